import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, listen } from '@waybell/runtime/health';
import type { Address } from './demo-events.ts';

const FLAKY_FAILURES = 2;

export type DemoReceiver = AsyncDisposable & {
  url: (address: Address) => string;
};

/** A small integrator's server on a free port of this machine. Reports each callback with its address and content. */
export async function startReceiver(onCallback: (address: string, body: string) => void): Promise<DemoReceiver> {
  const failures = new Map<string, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      answer(request, response, failures);
      onCallback(addressOf(request), Buffer.concat(chunks).toString());
    });
  });
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    url: (address) => `http://127.0.0.1:${port}/${address}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await closeServer(server);
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse, failures: Map<string, number>): void {
  response.statusCode = statusFor(addressOf(request), String(request.headers['webhook-id']), failures);
  response.end();
}

function statusFor(address: string, delivery: string, failures: Map<string, number>): number {
  if (address === 'dead') return 503;
  if (address !== 'flaky') return 200;
  const failed = failures.get(delivery) ?? 0;
  if (failed >= FLAKY_FAILURES) return 200;
  failures.set(delivery, failed + 1);
  return 500;
}

function addressOf({ url = '/' }: IncomingMessage): string {
  return url.slice(1);
}
