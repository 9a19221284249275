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
      for (let time = 0; time < ${TIMES}; time += 1) last = [Promise.resolve({}), new Array(${PLACES}).fill(time)];
      return last.length;
    };
    process.send(work());
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

test('what a process allocates and promises is counted, whatever of it is garbage, and from each beginning anew', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'waybell-counting-'));
  const { child, service } = await startProcess(folder.path);
  const inside = { folder: folder.path, services: [service] };
  const work = async () => {
    child.send('work');
    await once(child, 'message');
  };
  const worked = await countInside(inside, ['allocatedBytes', 'promises'], work);
  const idle = await countInside(inside, ['allocatedBytes', 'promises', 'statements'], async () => undefined);
  child.kill();
  await once(child, 'exit');
  const { allocatedBytes = 0, promises = 0 } = worked.get('a process') ?? {};
  expect(allocatedBytes).toBeGreaterThan(TIMES * PLACES * 4);
  expect(allocatedBytes).toBeLessThan(TIMES * PLACES * 10);
  expect(promises).toBeGreaterThanOrEqual(TIMES);
  expect(promises).toBeLessThan(TIMES * 1.1);
  const atRest = idle.get('a process');
  expect(atRest?.allocatedBytes).toBeLessThan(allocatedBytes / 10);
  expect(atRest?.promises).toBeLessThan(TIMES / 10);
  expect(atRest?.statements).toBe(0);
});
