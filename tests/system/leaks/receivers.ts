import type { IncomingMessage, ServerResponse } from 'node:http';
import { aSelfSignedCertificate } from '@waybell/deliverer/testing/certificate';
import { httpServer, sayingServer, tlsServer } from '@waybell/deliverer/testing/server';
import type { Planted } from './planted.ts';

const STATUSES: Record<string, number> = { '/delivered': 200, '/refused': 500, '/redirected': 307 };

/** Receivers of every kind, whose answers hold secrets too: where each is. */
export async function startReceivers(planted: Planted): Promise<AsyncDisposable & { urls: Record<string, string> }> {
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const status = STATUSES[request.url?.split('?')[0] ?? ''];
    // The rest are hung.
    if (status === undefined) return;
    const header = () => planted.plant("answer's header");
    response.writeHead(status, { 'set-cookie': `session=${header()}`, location: `/${header()}` });
    // Some send back what they were sent.
    const token = String(request.headers['x-service-verification-token']);
    response.end(`${planted.plant("answer's body")} ${token}`);
  };
  const plain = await httpServer(answer);
  const header = planted.plant("answer's header");
  const garbling = await sayingServer(`HTTP/1.1 ${header}\r\n${header}\r\n\r\n`);
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
      unresolved: 'http://nowhere.invalid/',
    },
    async [Symbol.asyncDispose]() {
      for (const each of [plain, garbling, untrusted]) await each[Symbol.asyncDispose]();
    },
  };
}
