import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, test } from '@jest/globals';
import { until } from './testing/until.ts';

const PARTS = new URL('process-parts.ts', import.meta.url).href;

/** Ends when its input does, once it was told to stop. */
const CODE = `import { startProcess } from '${PARTS}';
  const settings = { LOG_LEVEL: 'info', HOST: '127.0.0.1', HEALTH_PORT: 0, SHUTDOWN_GRACE: 600_000, OTEL_EXPORTER_OTLP_ENDPOINT: '' };
  await using parts = await startProcess('test', settings);
  const told = parts.shutdown.untilBegun();
  parts.log.info('working');
  await told;
  await new Promise((resolve) => process.stdin.once('end', resolve).resume());`;

describe('a process that is told to stop', () => {
  test('is not ready from then on, lives and says so until all else is closed, and ends well', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', CODE], { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const said: { msg: string; healthPort?: number }[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line)));
    await until('it works', () => said.some(({ msg }) => msg === 'working'));
    const port = said.find(({ msg }) => msg === 'process.started')?.healthPort;
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    expect((await get('/readyz')).status).toBe(200);
    child.kill('SIGTERM');
    const notReady = await until('it is not ready', async () => {
      const answer = await get('/readyz');
      return answer.status === 503 && answer;
    });
    expect(await notReady.json()).toEqual({ ready: false, waitingFor: ['shutdown'] });
    expect((await get('/livez')).status).toBe(200);
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
    expect(said.map(({ msg }) => msg)).toEqual(['process.started', 'working', 'shutdown.begun', 'process.stopped']);
  });
});

describe('a process that finds a mistyped setting in its environment', () => {
  test('warns of it with the nearest name', async () => {
    const env = { ...process.env, HEALTH_PROT: '1' };
    const child = spawn(process.execPath, ['--input-type=module', '-e', CODE], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(JSON.parse(line)).toMatchObject({ msg: 'setting.unknown', name: 'HEALTH_PROT', nearest: 'HEALTH_PORT' });
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});

describe('a process whose constants are changed, as tests do,', () => {
  test('says so', async () => {
    const env = { ...process.env, WAYBELL_TEST_LISTENER_LIFE: '1s' };
    const child = spawn(process.execPath, ['--input-type=module', '-e', CODE], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(JSON.parse(line)).toMatchObject({ msg: 'constants.changed', changed: { LISTENER_LIFE: '1s' } });
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});
