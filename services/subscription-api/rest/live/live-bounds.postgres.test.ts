import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { mock } from 'node:test';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Detour } from '@waybell/runtime/testing/detour';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { revokeToken } from '../../tokens.ts';
import { borrowPostgres } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { LiveStand, type Us } from '../../testing/live-stand.ts';
import { aFailed } from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';

const store = shared(() => createTestDatabase());
let stand: LiveStand | undefined;
afterEach(async () => {
  mock.timers.reset();
  await stand?.[Symbol.asyncDispose]();
  stand = undefined;
});

async function start(options: Parameters<typeof LiveStand.start>[0]): Promise<{ stand: LiveStand; us: Us }> {
  stand = await LiveStand.start({ beside: { store }, ...options });
  return { stand, us: await stand.someone() };
}

/** A stream whose reader takes nothing of it once it has begun. */
async function sleepyReader(port: number, { token }: Us): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`GET /v1/live HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n\r\n`);
  await once(socket, 'data');
  socket.pause();
  return socket;
}

describe('streams', () => {
  test('are bounded for each client, and in all', async () => {
    const { stand: ours, us } = await start({ live: { streamsPerClient: 2, streams: 3 } });
    const [other, third] = [await ours.someone(), await ours.someone()];
    {
      await using _one = await ours.read(us);
      await using _two = await ours.read(us);
      const refused = await ours.api.ask('GET', '/v1/live', { token: us.token });
      expect([refused.status, refused.body.detail]).toEqual([429, 'A client has 2 streams at once: close one first.']);
      await using _others = await ours.read(other);
      expect((await ours.api.ask('GET', '/v1/live', { token: third.token })).status).toBe(503);
    }
    await until('those that ended have made room', async () => {
      await using reader = await ours.read(us);
      return reader.status === 200;
    });
  });

  test('outlast the limit of answers while they are read, and end where a reader takes nothing', async () => {
    const { stand: ours, us } = await start({ limits: { answerTimeoutMs: 2_000 } });
    await using reader = await ours.read(us);
    using sleepy = disposable(await sleepyReader(ours.api.port, us));
    const url = `https://a.test/${'a'.repeat(2_000)}`;
    await until('the slow reader is cut', async () => {
      const answer = { durationMs: 1, status: 500, reason: 'http_5xx' as const, url };
      await ours.happens(
        us,
        Array.from({ length: 400 }, (_, place) => aFailed({ attempt: place + 1, answer })),
      );
      return await isCut(sleepy.socket);
    });
    expect(reader.state()).toBe('open');
    const { delivery } = await ours.happens(us, [aFailed()]);
    await until('the other goes on', () => reader.of('attempt').some((data) => data['delivery_guid'] === delivery));
  });

  test('end once their token is revoked, and not before', async () => {
    const { stand: ours, us } = await start({ live: { knownAgainMs: 200 } });
    await using reader = await ours.read(us);
    const { delivery } = await ours.happens(us, [aFailed()]);
    await until('it is told', () => reader.of('attempt').some((data) => data['delivery_guid'] === delivery));
    expect(reader.state()).toBe('open');
    await revokeToken(ours.api.store.postgres, us.token);
    await until('the stream ends', () => reader.state() === 'ended');
  });

  test('end within a minute of their token, which is looked at no more than twice in it', async () => {
    const { stand: ours, us } = await start({});
    mock.timers.enable({ apis: ['setInterval'] });
    await using reader = await ours.read(us);
    await revokeToken(ours.api.store.postgres, us.token);
    mock.timers.tick(30_000);
    const { delivery } = await ours.happens(us, [aFailed()]);
    const isTold = () => reader.of('attempt').some((data) => data['delivery_guid'] === delivery);
    await until('it is told, or has ended', () => isTold() || reader.state() === 'ended');
    expect(reader.state()).toBe('open');
    mock.timers.tick(30_000);
    await until('the stream ends', () => reader.state() === 'ended');
  });

  test('end when the process is told to stop, and none begins any more', async () => {
    const stop = new AbortController();
    const { stand: ours, us } = await start({ live: { until: stop.signal } });
    await using reader = await ours.read(us);
    stop.abort();
    await until('the stream ends', () => reader.state() === 'ended');
    expect((await ours.api.ask('GET', '/v1/live', { token: us.token })).status).toBe(503);
  });

  test('stay open while Postgres is away, say so, and go on with what happened', async () => {
    await using proxy = await Detour.to((await borrowPostgres()).url);
    const host = new URL(proxy.url).host;
    const { stand: ours, us } = await start({
      through: (url) => url.replace(new URL(url).host, host),
      live: { knownAgainMs: 200 },
    });
    await using reader = await ours.read(us);
    await proxy.shut();
    await until('it says so', () => reader.told.some(({ comment }) => comment?.includes('cannot be read')));
    const { delivery } = await ours.happens(us, [aFailed()]);
    await proxy.reopen();
    await until('it goes on', () => reader.of('attempt').some((data) => data['delivery_guid'] === delivery));
    expect(reader.state()).toBe('open');
  });
});

/** Whether the server has closed it, which a socket that reads nothing does not hear: what it writes is refused. */
async function isCut(socket: Socket): Promise<boolean> {
  socket.write('\r\n');
  return socket.destroyed || socket.closed;
}

const disposable = (socket: Socket) => ({ socket, [Symbol.dispose]: () => void socket.destroy() });
