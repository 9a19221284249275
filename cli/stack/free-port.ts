import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the range that systems take outgoing ports from, so that a port stays free while its server is restarted.
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

/** A loopback port that nobody listens on and that is not in `taken`; `preferred` when it is one. */
export async function freePort({ preferred, taken }: { preferred?: number; taken: Set<number> }): Promise<number> {
  const candidates = preferred === undefined ? [] : [preferred];
  for (let tries = 0; tries < 1_000; tries += 1) {
    const port = candidates.pop() ?? randomInt(FIRST_PORT, LAST_PORT);
    if (!taken.has(port) && (await isFree(port))) {
      taken.add(port);
      return port;
    }
  }
  throw new Error(`no free port on 127.0.0.1 between ${FIRST_PORT} and ${LAST_PORT}`);
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
