import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver } from '../create-receiver.ts';
import { kinds, openStore } from './open-store.ts';

/**
 * A process with a receiver for each kind of store, at a path of its name. It says on a line each where it listens and what it
 * begins to handle. One that `stalls` is never done with what has that in its id.
 */
const [redisUrl = '', postgresUrl = '', secret = '', how = ''] = process.argv.slice(2);
const receivers = await Promise.all(
  kinds.map(async (kind) => {
    const url = kind === 'postgres' ? postgresUrl : redisUrl;
    const { store } = await openStore(kind, url, { leaseMs: 60_000 });
    const { node } = createReceiver({
      interface: 'carrier',
      secrets: secret,
      store,
      handle: async (_notification, { id }) => {
        process.stdout.write(`${id}\n`);
        if (id.includes(how)) await new Promise(() => undefined);
      },
    });
    return [`/${kind}`, node] as const;
  }),
);
const server = createServer((request, response) => {
  const [, node] = receivers.find(([path]) => path === request.url) ?? [];
  node?.(request, response);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
