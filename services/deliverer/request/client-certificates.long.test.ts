import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { anAuthority } from '@waybell/runtime/testing/certificate';
import { tlsServer } from '@waybell/runtime/testing/server';
import { trusted } from '@waybell/runtime/testing/shared';
import { openCaller } from '../testing/caller.ts';

const LONG_MS = 600_000;
const REPLACED = 2_000;
const MOST_POOLS = 1_024;
const WARMING = 200;
/** The maximum number of pools takes some 10 MiB of the heap, without their secure contexts. */
const MOST_LEFT_BYTES = 4 * 2 ** 20;

const authority = anAuthority('Authority of receivers');
const clients = anAuthority('Authority of clients');
const { cert: chain, key } = clients.issue({ name: 'client' });

trusted(authority.cert);

async function receiver() {
  const open = new Set<Socket>();
  const asked = { ...authority.issue({ name: 'localhost' }), ca: [clients.cert], requestCert: true };
  const server = await tlsServer(asked, ({ socket }, response) => {
    open.add(socket.once('close', () => open.delete(socket)));
    response.end();
  });
  return { ...server, open };
}

function caller(url: string, keepAliveMs: number) {
  const made = openCaller({ keepAliveMs });
  let count = 0;
  /** Makes a request with each of so many certificates, which replace one another. */
  const callReplacing = async (times: number) => {
    for (let each = 0; each < times; each += 1) {
      const guid = `guid ${(count += 1)}`;
      const credentials = { guid, headers: {}, secrets: [], certificate: { guid, chain, key } };
      expect(await made.call(url, { credentials })).toMatchObject({ isDelivered: true });
    }
  };
  return { ...made, callReplacing };
}

test('certificates have no more pools than all origins may have, whatever clients replace', async () => {
  await using server = await receiver();
  await using calling = caller(server.url, LONG_MS);
  await calling.callReplacing(REPLACED);
  await until('the others are closed', () => server.open.size === MOST_POOLS);
});

test('nothing is left of certificates that were replaced once their connections are closed', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  await using server = await receiver();
  await using calling = caller(server.url, 50);
  const leftAfter = async (times: number) => {
    await calling.callReplacing(times);
    await until('all are closed', () => server.open.size === 0);
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await leftAfter(WARMING);
  expect((await leftAfter(REPLACED)) - before).toBeLessThan(MOST_LEFT_BYTES);
});
