import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { anAuthority } from '@waybell/runtime/testing/certificate';
import { trusted } from '@waybell/runtime/testing/shared';
import { openCaller } from '../testing/caller.ts';

const authority = anAuthority('Test authority');

// Restored afterwards, as other tests run in this process: an authority that stays would be taken for theirs of the same name.
trusted(authority.cert);

const LISTENING = /^ACCEPT 127\.0\.0\.1:(\d+)\s/m;

/** Starts the server of the command `openssl`, which must be installed, with `count` session tickets after each handshake. */
async function serveTickets(count: number): Promise<AsyncDisposable & { port: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'waybell-tickets-'));
  const { cert, key } = authority.issue({ name: 'localhost' });
  await writeFile(join(folder, 'cert.pem'), cert);
  await writeFile(join(folder, 'key.pem'), key);
  const args = [
    's_server',
    '-accept',
    '127.0.0.1:0',
    '-cert',
    'cert.pem',
    '-key',
    'key.pem',
    '-num_tickets',
    `${count}`,
  ];
  // openssl ends with its input.
  const server = spawn('openssl', args, { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(server, 'close');
  let said = '';
  server.stdout.on('data', (chunk) => (said += String(chunk)));
  await until('it listens', () => LISTENING.test(said));
  return {
    port: Number(LISTENING.exec(said)?.[1]),
    async [Symbol.asyncDispose]() {
      server.kill();
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

test('a receiver that says more of its TLS session than any receiver needs has its connection ended', async () => {
  await using server = await serveTickets(20_000);
  await using caller = openCaller({ resolveHost: async () => [{ address: '127.0.0.1', family: 4 }] });
  const answer = await caller.call(`https://localhost:${server.port}/`);
  expect(answer).toMatchObject({ isDelivered: false, reason: 'invalid_response' });
});
