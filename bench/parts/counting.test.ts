import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { countInside, countingSettings } from '../lib/count-inside.ts';

const TIMES = 20_000;
/** Each array is garbage when the next one is there, so most are collected before the end; a place in it takes 4 bytes or 8. */
const PLACES = 200;
const PROCESS = `
  process.on('message', () => {
    const work = (last) => {
      for (let time = 0; time < ${TIMES}; time += 1) last = new Array(${PLACES}).fill(time);
      return last.length;
    };
    const one = async () => 1;
    const both = async () => (await one()) + (await one());
    const promise = async (last) => {
      for (let time = 0; time < ${TIMES}; time += 1) last = await both().then((two) => two);
      return last;
    };
    promise().then(() => process.send(work()));
  });
  process.send('listens');`;

async function startProcess(folder: string) {
  const child = spawn(process.execPath, ['--eval', PROCESS], {
    env: { ...process.env, ...countingSettings(folder) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  return { child, service: { spec: { name: 'a process' }, identity: { pid: child.pid ?? 0 } } };
}

test('what a process allocates and promises is counted, whatever of it is garbage, and again each time', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'waybell-counting-'));
  const { child, service } = await startProcess(folder.path);
  const inside = { folder: folder.path, services: [service] };
  const work = async () => {
    child.send('work');
    await once(child, 'message');
  };
  const idle = await countInside(inside, ['promises', 'statements'], async () => undefined);
  const promised = await countInside(inside, ['promises'], work);
  const allocated = await countInside(inside, ['allocatedBytes'], work);
  child.kill();
  await once(child, 'exit');
  expect(idle.get('a process')?.statements).toBe(0);
  expect(idle.get('a process')?.promises).toBeLessThan(TIMES / 10);
  // Three of async functions and one of then.
  const promises = (promised.get('a process')?.promises ?? 0) / TIMES;
  expect(promises).toBeGreaterThanOrEqual(4);
  expect(promises).toBeLessThan(4.1);
  const { allocatedBytes } = allocated.get('a process') ?? {};
  expect(allocatedBytes).toBeGreaterThan(TIMES * PLACES * 4);
  expect(allocatedBytes).toBeLessThan(TIMES * PLACES * 14);
});
