import { until } from '@waybell/runtime/testing/until';
import { contractOf, type Contract } from './contract.ts';

// Tests check what an answer holds.
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = { status: number; headers: Headers; text: string; body: any };

export type Ask = (
  method: string,
  path: string,
  more?: { token?: string | undefined; body?: unknown; raw?: string | Buffer; headers?: Record<string, string> },
) => Promise<Answer>;

/** A listener, and the contract that it is held to. */
export type Asked = { port: number; ask: Ask; contract: Contract };

/** Asks the listener on a port of this machine. Each answer has to be as the document says that is there under `path`. */
export async function askedBy(port: number, path: string): Promise<Asked> {
  // One that is in a hurry may cut off even this, on a slow machine.
  const response = await until('the document is there', async () => {
    const asked = fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
    const answer = await asked.catch(() => undefined);
    return answer?.ok === true && answer;
  });
  const contract = contractOf(await response.text());
  return { port, contract, ask: askAt(port, contract) };
}

function askAt(port: number, contract: Contract): Ask {
  return async (method, path, { token, body, raw, headers = {} } = {}) => {
    const content = Buffer.from(raw ?? (body === undefined ? '' : JSON.stringify(body)));
    const request = new Request(`http://127.0.0.1:${port}${path}`, {
      method,
      // Tests check the answer as it came.
      redirect: 'manual',
      headers: {
        connection: 'close',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
        ...headers,
      },
      ...(content.length === 0 ? {} : { body: content }),
    });
    const response = await fetch(request);
    const { status, headers: answered } = response;
    const text = await textOf(response);
    const [at = path, query] = path.split('?', 2);
    contract.check({
      method,
      path: at,
      query: new URLSearchParams(query),
      requestHeaders: request.headers,
      requestBody: content,
      status,
      headers: answered,
      text,
    });
    const isJson = /json/.test(answered.get('content-type') ?? '') && text !== '';
    return { status, headers: answered, text, body: isJson ? JSON.parse(text) : undefined };
  };
}

/** The body; of one that never ends, what comes first. */
async function textOf(response: Response): Promise<string> {
  if (response.body === null || response.headers.get('content-type') !== 'text/event-stream') return response.text();
  const reader = response.body.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}
