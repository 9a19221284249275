import type { IncomingMessage, ServerResponse } from 'node:http';
import { aSelfSignedCertificate, type Authority } from '@waybell/runtime/testing/certificate';
import { httpServer, tcpServer, tlsServer } from '@waybell/runtime/testing/server';
import { authorizationOf } from './credentials.ts';
import type { Planted } from './planted.ts';

// The log has the beginning of a body, which ends in the midst of the token.
const KEPT_BYTES = 4_096;
const SHOWN_OF_CUT = 40;

const STATUSES: Record<string, number> = { '/delivered': 200, '/refused': 500, '/redirected': 307 };

/** Receivers of every kind, whose answers hold secrets too: where each is. Those that are trusted are so by this authority. */
export async function startReceivers(
  planted: Planted,
  authority: Authority,
): Promise<AsyncDisposable & { urls: Record<string, string> }> {
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const status = STATUSES[request.url?.split('?')[0] ?? ''];
    // The rest are hung.
    if (status === undefined) return;
    const header = () => planted.plant("answer's header");
    response.writeHead(status, { 'set-cookie': `session=${header()}`, location: `/${header()}` });
    // Some send back what they were sent, and where the log cuts it off is no matter of theirs.
    const token = String(request.headers['x-service-verification-token']);
    for (const signature of String(request.headers['webhook-signature']).split(' '))
      planted.add('signature', signature);
    planted.add('verification token', token.slice(0, SHOWN_OF_CUT));
    const key = request.headers['x-api-key'];
    if (typeof key === 'string') planted.add('header of a receiver', key.slice(0, SHOWN_OF_CUT));
    const echo = `${planted.plant("answer's body")} ${request.url} ${JSON.stringify(request.headers)} ${authorizationOf(request)} `;
    response.end(`${echo.padEnd(KEPT_BYTES - SHOWN_OF_CUT)}${String(key ?? token)}`);
  };
  const plain = await httpServer(answer);
  const header = planted.plant("answer's header");
  // Bytes that are no response are stored like the beginning of a body.
  const nonsense = planted.plant("answer's body");
  const garbling = await tcpServer((socket) =>
    socket.once('data', (bytes) => {
      const [head = ''] = bytes.toString('latin1').split('\r\n\r\n');
      socket.write(`HTTP/1.1 ${nonsense}\r\nset-cookie: ${header}\r\n${nonsense} ${JSON.stringify(head)}\r\n\r\n`);
    }),
  );
  const certified = { ...authority.issue({ name: 'localhost' }), ca: authority.cert, requestCert: true };
  const asking = await tlsServer(certified, answer);
  const untrusted = await tlsServer(aSelfSignedCertificate({ name: 'localhost' }), answer);
  return {
    urls: {
      delivered: `${plain.url}/delivered`,
      refused: `${plain.url}/refused`,
      hung: `${plain.url}/hung`,
      redirected: `${plain.url}/redirected`,
      unauthorized: `${plain.url}/delivered`,
      misunderstood: `${plain.url}/delivered`,
      certified: `${asking.url}/delivered`,
      garbled: `${garbling.url}/`,
      untrusted: `${untrusted.url}/`,
      unsecured: `${plain.url.replace('http:', 'https:')}/`,
    },
    async [Symbol.asyncDispose]() {
      for (const each of [plain, garbling, asking, untrusted]) await each[Symbol.asyncDispose]();
    },
  };
}
