import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { freePort } from '@waybell/stack/ports';
import { carrierOf, publicAddress, stack, untilServed, waitsFor } from './stand.ts';

const USER = 'rotated';
/** It is never ready. */
const READY_MS = 20_000;

/** Redis that spreads its keys, though it is a single one. */
async function startRedisCluster(home: string): Promise<AsyncDisposable & { url: string }> {
  const port = await freePort({ taken: new Set() });
  const options = { port: String(port), bind: '127.0.0.1', dir: home, save: '', 'cluster-enabled': 'yes' };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  await until('it listens', async () => {
    const socket = connect({ host: '127.0.0.1', port });
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isThere;
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.kill();
      await once(server, 'exit');
    },
  };
}

export function reliedServers(): void {
  describe('a server of ours that is not what is relied on', () => {
    let home: string;

    beforeAll(() => {
      home = mkdtempSync(join(tmpdir(), 'waybell-relied-'));
    });

    afterAll(() => rmSync(home, { recursive: true, force: true }));

    test('is named by the process that uses it: a Redis that is a cluster', async () => {
      await using cluster = await startRedisCluster(home);
      const tracker = stack.stack.service('location-tracker');
      const { env, readyMs } = tracker.spec;
      tracker.spec.readyMs = READY_MS;
      try {
        await expect(stack.withSettings('location-tracker', { REDIS_URL: cluster.url })).rejects.toThrow(
          'redis: is a cluster',
        );
      } finally {
        Object.assign(tracker.spec, { env, readyMs });
        await tracker.restart();
      }
    });

    test('lets a service in again whose password was rotated in its file, and no attempt is lost meanwhile', async () => {
      const file = join(home, 'amqp-url');
      const url = Object.assign(new URL(stack.brokerUrl), { username: USER, password: 'old' });
      const write = (password: string) => writeFileSync(file, Object.assign(url, { password }).href);
      await stack.rabbitmqctl('add_user', USER, 'old');
      await stack.rabbitmqctl('set_permissions', '-p', stack.vhost, USER, '.*', '.*', '.*');
      write('old');
      try {
        await using _settings = await stack.withSettings('deliverer', { AMQP_URL: '', AMQP_URL_FILE: file });
        const carrier = await carrierOf(publicAddress(23));
        await carrier.hear();
        await untilServed([carrier], 1);
        await stack.rabbitmqctl('change_password', USER, 'new');
        await stack.rabbitmqctl('close_all_connections', 'rotated');
        await until('it says that the file holds what was refused', async () =>
          (await waitsFor('deliverer'))?.includes('AMQP_URL_FILE'),
        );
        await carrier.hear();
        write('new');
        await untilServed([carrier], 2);
        await until('it is ready', async () => (await waitsFor('deliverer')) === undefined);
      } finally {
        await stack.rabbitmqctl('delete_user', USER);
      }
    });
  });
}
