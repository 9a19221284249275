import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Counter, Registry } from 'prom-client';
import { serveHealth, type Health } from './health.ts';

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
    await expect(serveHealth(at)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  test('closes although somebody keeps an idle connection', async () => {
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
