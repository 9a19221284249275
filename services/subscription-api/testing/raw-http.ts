import { connect } from 'node:net';

/** An answer as it came. `headers` have small names; one that came twice has its values joined with a comma. */
export type RawAnswer = { status: number; headers: ReadonlyMap<string, string>; body: string };

/** Sends bytes, whatever they are, on a connection of their own, and resolves with all that came once the server closes it. */
export function sendBytes(port: number, bytes: Buffer): Promise<Buffer> {
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
export function readAnswers(sent: Buffer, { isHead }: { isHead: boolean }): RawAnswer[] {
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
