import type { IncomingMessage, ServerResponse } from 'node:http';
import { aSelfSignedCertificate } from '@waybell/deliverer/testing/certificate';
import { httpServer, sayingServer, tlsServer } from '@waybell/deliverer/testing/server';
import type { Planted } from './planted.ts';

// The log has the beginning of a body, which ends in the midst of the token.
const KEPT_BYTES = 4_096;
const SHOWN_OF_CUT = 40;

const STATUSES: Record<string, number> = { '/delivered': 200, '/refused': 500, '/redirected': 307 };

/** Receivers of every kind, whose answers hold secrets too: where each is. */
export async function startReceivers(planted: Planted): Promise<AsyncDisposable & { urls: Record<string, string> }> {
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
    const echo = `${planted.plant("answer's body")} ${request.url} ${JSON.stringify(request.headers)} `;
    response.end(`${echo.padEnd(KEPT_BYTES - SHOWN_OF_CUT)}${token}`);
  };
  const plain = await httpServer(answer);
  const header = planted.plant("answer's header");
  // What came is kept where it is no response, as the beginning of a body is.
  const nonsense = planted.plant("answer's body");
  const garbling = await sayingServer(`HTTP/1.1 ${nonsense}\r\nset-cookie: ${header}\r\n${nonsense}\r\n\r\n`);
  const untrusted = await tlsServer(aSelfSignedCertificate({ name: 'localhost' }), answer);
  return {
    urls: {
      delivered: `${plain.url}/delivered`,
      refused: `${plain.url}/refused`,
      hung: `${plain.url}/hung`,
      redirected: `${plain.url}/redirected`,
      garbled: `${garbling.url}/`,
      untrusted: `${untrusted.url}/`,
      unsecured: `${plain.url.replace('http:', 'https:')}/`,
    },
    async [Symbol.asyncDispose]() {
      for (const each of [plain, garbling, untrusted]) await each[Symbol.asyncDispose]();
    },
  };
}
