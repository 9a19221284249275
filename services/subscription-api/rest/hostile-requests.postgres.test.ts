import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { signUp, startApi } from '../testing/api.ts';
import { startForgery } from '../testing/forged-tokens.ts';
import { createToken, hashToken } from '../tokens.ts';
import { connect } from 'node:net';

/**
 * A request, and what it is answered with: `<status> <kind of problem>`, once per answer, after which the connection is
 * closed; none where it is closed without a word. `shows` are headers of the last answer, null those that it must not have.
 * Each character of a text is one byte; `{{…}}` stands for what `wordOf` says. What is `raw` asks for no closing. What does
 * not come to its end is for the `hasty` server, which waits a moment: it would cut off the others.
 */
type Hostile = {
  what: string;
  on?: 'admin' | 'hasty';
  answers: string[];
  shows?: Record<string, string | null>;
} & (
  | { raw: string }
  | { method: string; path: string; headers?: Record<string, string | string[] | null>; body?: string }
);

const requests = JSON.parse(
  readFileSync(join(import.meta.dirname, 'hostile-requests.json'), 'utf8'),
) as readonly Hostile[];

let words: Record<string, string>;
let answered: Map<string, Promise<RawAnswer[]>>;

const forgery = shared(() => startForgery());
const api = shared(() => startApi({ jwt: forgery.rules }));
const hasty = shared(() =>
  startApi({ beside: api, checkEveryMs: 50, limits: { headersTimeoutMs: 100, requestTimeoutMs: 200 } }),
);
beforeAll(async () => {
  const [shipper, carrier] = [await signUp(api, { interface: 'shipper' }), await signUp(api, { interface: 'carrier' })];
  const operator = await signUp(api, { interface: 'shipper', scopes: ['admin'] });
  const { token } = shipper;
  words = {
    token,
    half: token.slice(0, 25),
    upper: `wbl_${token.slice(4).replaceAll(/[a-z]/gi, (letter) => swapCase(letter))}`,
    hash: hashToken(token).toString('hex'),
    reader: await createToken(api.store.postgres, { accountGuid: shipper.guid, scopes: ['webhooks:read'] }),
    carrier: carrier.token,
    stranger: carrier.guid,
    operator: operator.token,
    bomb: gzipSync(Buffer.alloc(20_000_000, 0x20)).toString('latin1'),
    ...Object.fromEntries(Object.entries(forgery.forged).map(([name, forged]) => [`jwt ${name}`, forged])),
    many: Array.from({ length: 4_000 }, (_each, index) => `a${index % 10}:`).join('\r\n'),
  };
  // Fetching them has a limit of a few seconds, which those of a slow machine take that ask all at once.
  await until('the keys of the issuer are known', async () => {
    return (await api.ask('GET', '/v1/public/webhooks', { token: forgery.good })).status === 200;
  });
  // All at once: what one does to the server, the others meet.
  answered = new Map(requests.map((request) => [request.what, answersTo(request)]));
  await Promise.allSettled(answered.values());
});

const swapCase = (letter: string) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase());

/** `{{x*20}}` is twenty times x, any other one of `words`. */
function wordOf(name: string): string {
  const [, repeated = '', times] = /^(.+)\*(\d+)$/.exec(name) ?? [];
  if (times !== undefined) return repeated.repeat(Number(times));
  const word = words[name];
  if (word === undefined) throw new Error(`nobody knows what {{${name}}} is`);
  return word;
}

async function answersTo(request: Hostile): Promise<RawAnswer[]> {
  const text = 'raw' in request ? request.raw : compose(request);
  const bytes = Buffer.from(filled(text), 'latin1');
  const { port } = { admin: api.admin, hasty, api }[request.on ?? 'api'];
  const isHead = 'method' in request && request.method === 'HEAD';
  return readAnswers(await sendBytes(port, bytes), { isHead });
}

const filled = (text: string) => text.replaceAll(/\{\{(.+?)\}\}/g, (_all, name: string) => wordOf(name));

function compose({ method, path, on, ...more }: Extract<Hostile, { method: string }>): string {
  const body = filled(more.body ?? '');
  const headers: Record<string, string | string[] | null> = {
    host: 'api.test',
    authorization: `Bearer {{${on === 'admin' ? 'operator' : 'token'}}}`,
    connection: 'close',
    ...(more.body === undefined ? {} : { 'content-length': String(body.length) }),
    ...more.headers,
  };
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => `${name}: ${value}`),
  );
  return `${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`;
}

/** Formats an answer like the file. */
function summary({ status, headers, body }: RawAnswer): string {
  const isProblem = headers.get('content-type') === 'application/problem+json' && body !== '';
  const { type } = isProblem ? (JSON.parse(body) as { type: string }) : { type: '' };
  return `${status} ${type.replace('urn:waybell:problem:', '')}`.trim();
}

describe('a hostile request', () => {
  test.each(requests)('with $what gets the answer that is documented', async ({ what, answers, shows = {} }) => {
    const got = (await answered.get(what)) ?? [];
    expect(got.map(summary)).toEqual(answers);
    for (const [name, value] of Object.entries(shows))
      expect([name, got.at(-1)?.headers.get(name) ?? null]).toEqual([name, value]);
    for (const { status, body, headers } of got) {
      expect(body).not.toMatch(/\bat .+:\d+:\d+|node:internal|node_modules|\.ts:|syntax error|relation /i);
      for (const name of ['x-powered-by', 'server', 'set-cookie']) expect(headers.has(name)).toBe(false);
      expect(headers.get('cache-control')).toBe(what.includes('of openapi.json') ? 'public, max-age=300' : 'no-store');
      expect(headers.has('www-authenticate')).toBe(status === 401 || status === 403);
    }
  });

  test('is one of at least 60, each of another kind', () => {
    expect(new Set(requests.map(({ what }) => what)).size).toBe(requests.length);
    expect(requests.length).toBeGreaterThanOrEqual(60);
  });
});

describe('after all of them', () => {
  test('good requests are answered as ever', async () => {
    const body = { callback_url: 'https://hooks.test/a' };
    const path = '/v1/public/webhooks/order.paid/subscribe';
    expect((await api.ask('POST', path, { token: words['token'], body })).status).toBe(200);
    expect((await api.ask('GET', '/v1/public/webhooks', { token: forgery.good })).status).toBe(200);
    expect((await api.admin.ask('GET', '/v1/admin/accounts', { token: words['operator'] })).status).toBe(200);
  });

  test("nobody has asked a forger's server for keys", () => {
    expect(forgery.asked()).toBe(0);
  });
});

/** An answer as it came. `headers` have small names; one that came twice has its values joined with a comma. */
type RawAnswer = { status: number; headers: ReadonlyMap<string, string>; body: string };

/** Sends bytes, whatever they are, on a connection of their own, and resolves with all that came once the server closes it. */
function sendBytes(port: number, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket
      .on('data', (data: Buffer) => received.push(data))
      // A connection that is cut is closed, too.
      .on('error', () => socket.destroy())
      .on('close', () => resolve(Buffer.concat(received)));
  });
}

/** The answers in what a server sent. Those to HEAD have no body. Throws where it is no sequence of whole answers. */
function readAnswers(sent: Buffer, { isHead }: { isHead: boolean }): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = sent.toString('latin1'); rest !== '';) {
    const [head = '', ...after] = rest.split('\r\n\r\n');
    const [statusLine = '', ...lines] = head.split('\r\n');
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine) ?? [];
    if (status === undefined) throw new Error(`this is no answer: ${rest.slice(0, 100)}`);
    const headers = readHeaders(lines);
    const following = after.join('\r\n\r\n');
    // Without a length, to an old client, it ends with the connection.
    const length = isHead || status === '204' ? 0 : Number(headers.get('content-length') ?? following.length);
    if (following.length < length) throw new Error(`an answer is cut off: ${rest.slice(0, 100)}`);
    const body = Buffer.from(following.slice(0, length), 'latin1').toString('utf8');
    answers.push({ status: Number(status), headers, body });
    rest = following.slice(length);
  }
  return answers;
}

function readHeaders(lines: string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [name = '', ...value] = line.split(': ');
    const before = headers.get(name.toLowerCase());
    headers.set(name.toLowerCase(), [...(before === undefined ? [] : [before]), value.join(': ')].join(', '));
  }
  return headers;
}
