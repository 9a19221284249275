import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Counter, Registry } from 'prom-client';
import { closeServer, listen, serveHealth, type Health } from './health.ts';
import { until } from './testing/until.ts';

let waitingFor: string[];
let metrics: Registry;
let health: Health;

beforeEach(async () => {
  waitingFor = [];
  metrics = new Registry();
  health = await serveHealth({ host: '127.0.0.1', port: 0, readiness: { waitingFor: () => waitingFor }, metrics });
});

afterEach(async () => {
  await health[Symbol.asyncDispose]();
});

const get = (path: string) => fetch(`http://127.0.0.1:${health.port}${path}`, { headers: { connection: 'close' } });

describe('serveHealth', () => {
  test('says at /livez that the process lives, whatever it waits for', async () => {
    waitingFor = ['postgres'];
    expect((await get('/livez')).status).toBe(200);
  });

  test('says at /readyz that it is ready, with 200', async () => {
    const response = await get('/readyz?verbose');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ready: true, waitingFor: [] });
  });

  test('says at /readyz what it waits for, with 503', async () => {
    waitingFor = ['postgres', 'rabbitmq'];
    const response = await get('/readyz');
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ ready: false, waitingFor: ['postgres', 'rabbitmq'] });
  });

  test('serves its metrics at /metrics', async () => {
    new Counter({ name: 'waybell_test_total', help: 'of a test', registers: [metrics] }).inc(3);
    const response = await get('/metrics');
    expect(response.headers.get('content-type')).toBe(metrics.contentType);
    expect(await response.text()).toContain('waybell_test_total 3');
  });

  test('answers 500 where a metric cannot be read', async () => {
    const collect = () => {
      throw new Error('broken');
    };
    metrics.registerMetric(new Counter({ name: 'waybell_test_total', help: 'of a test', registers: [], collect }));
    expect((await get('/metrics')).status).toBe(500);
  });

  test('answers 404 elsewhere', async () => {
    expect((await get('/')).status).toBe(404);
  });

  test('says that its port is taken', async () => {
    const at = { host: '127.0.0.1', port: health.port, readiness: { waitingFor: () => [] }, metrics };
    await expect(serveHealth(at)).rejects.toThrow(/something else does; stop it, or set another port/);
  });

  test('closes although a client keeps an idle connection', async () => {
    const socket = connect(health.port, '127.0.0.1');
    socket.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    await health[Symbol.asyncDispose]();
    await closed;
    await expect(get('/livez')).rejects.toThrow('fetch failed');
  });
});

describe('closeServer', () => {
  /** Starts a server that closes no connection by itself and never ends a wait. */
  async function aServer(answer: RequestListener): Promise<{ server: Server; socket: Socket; ask: () => void }> {
    const server = createServer({ keepAliveTimeout: 0 }, answer);
    const { port } = await listen(server, { host: '127.0.0.1', port: 0 });
    const socket = connect(port, '127.0.0.1');
    return { server, socket, ask: () => socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n') };
  }

  test('waits for an answer, which says that it is the last one, and closes the connection', async () => {
    const released = Promise.withResolvers<void>();
    let isAsked = false;
    const { server, socket, ask } = await aServer((_request, response) => {
      isAsked = true;
      void released.promise.then(() => response.end('an answer'));
    });
    let heard = '';
    socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    const ended = new Promise((resolve) => socket.once('close', resolve));
    ask();
    await until('it is asked', () => isAsked);
    const closed = closeServer(server, 600_000);
    released.resolve();
    await closed;
    await ended;
    expect(heard).toMatch(/connection: close/i);
    expect(heard).toMatch(/an answer$/);
  });

  test('closes the connection of an answer that was begun, too', async () => {
    const released = Promise.withResolvers<void>();
    const { server, socket, ask } = await aServer((_request, response) => {
      response.write('an ');
      void released.promise.then(() => response.end('answer'));
    });
    ask();
    await new Promise((resolve) => socket.once('data', resolve));
    const gone = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    const closed = closeServer(server, 600_000);
    released.resolve();
    await closed;
    await gone;
    expect(server.listening).toBe(false);
  });

  test('closes the connection of a client that does not ask again', async () => {
    const { server, socket, ask } = await aServer((_request, response) => void response.end());
    ask();
    await new Promise((resolve) => socket.once('data', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    await closeServer(server, 600_000);
    await closed;
    expect(server.listening).toBe(false);
  });

  test('lets a slow client read to the end what is written already', async () => {
    const bytes = 16 * 2 ** 20;
    let isAsked = false;
    const { server, socket, ask } = await aServer((_request, response) => {
      isAsked = true;
      response.end(Buffer.alloc(bytes));
    });
    ask();
    await until('it is asked', () => isAsked);
    const closed = closeServer(server, 600_000);
    let read = 0;
    socket.on('data', (chunk: Buffer) => (read += chunk.length));
    await closed;
    await until('it is all read', () => read > bytes);
  });

  test.each<[string, RequestListener]>([
    ['who does not read', (_request, response) => void response.end(Buffer.alloc(16 * 2 ** 20))],
    ['an answer that does not come', () => undefined],
  ])('does not wait for %s', async (_, answer) => {
    let isAsked = false;
    const { server, socket, ask } = await aServer((request, response) => {
      isAsked = true;
      answer(request, response);
    });
    socket.on('error', () => undefined);
    ask();
    await until('it is asked', () => isAsked);
    await closeServer(server, 100);
    expect(server.listening).toBe(false);
    socket.destroy();
  });
});
