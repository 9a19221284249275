import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { HostileReceivers, Started } from './hostile-receiver.ts';

/** Receivers that cannot be reached at all. */
export const absentReceivers: HostileReceivers = {
  'has a name that nobody knows': { end: 'dns', start: () => nobodyAt('http://nobody.invalid/') },
  'is at an address where callbacks never go': { end: 'blocked_address', start: () => nobodyAt('http://10.0.0.1/') },
  // A privileged port on which no service of today listens.
  'does not listen': { end: 'connect_refused', start: () => nobodyAt('http://127.0.0.1:2/') },
  // No TCP connection is ever made to the broadcast address, whatever the network.
  'is where no way leads': { end: 'unreachable', start: () => nobodyAt('http://255.255.255.255/') },
  'lets nobody through': { end: 'connect_timeout', start: blackHole },
};

async function nobodyAt(url: string): Promise<Started> {
  return { url, [Symbol.asyncDispose]: async () => undefined };
}

/** A thread that listens and then sleeps: nothing accepts, and a full backlog makes the kernel drop what comes. */
const SLEEPING_LISTENER = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });`;
const MORE_THAN_THE_BACKLOG = 8;

async function blackHole(): Promise<Started> {
  const listener = new Worker(SLEEPING_LISTENER, { eval: true });
  const [port] = (await once(listener, 'message')) as [number];
  const waiting = Array.from({ length: MORE_THAN_THE_BACKLOG }, () =>
    connect(port, '127.0.0.1').on('error', () => undefined),
  );
  const [first] = waiting;
  if (first !== undefined) await once(first, 'connect');
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      for (const socket of waiting) socket.destroy();
      await listener.terminate();
    },
  };
}
