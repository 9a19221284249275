import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver } from '../create-receiver.ts';
import { openStore, type StoreKind } from './open-store.ts';

/**
 * A receiver in a process of its own: it says on a line each where it listens and what it begins to handle. One that
 * `stalls` is never done with anything.
 */
const [kind, url = '', secret = '', how] = process.argv.slice(2);
// The parent process passes one of them.
const { store } = await openStore(kind as StoreKind, url, { leaseMs: 60_000 });
const receiver = createReceiver({
  interface: 'carrier',
  secrets: secret,
  store,
  handle: async (_notification, { id }) => {
    process.stdout.write(`${id}\n`);
    if (how === 'stalls') await new Promise(() => undefined);
  },
});
const server = createServer(receiver.node);
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
