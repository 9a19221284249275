import { spawn } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { endingMs, graceFor } from './grace.ts';

const SHUTDOWN = new URL('shutdown.ts', import.meta.url).href;
const LOG = new URL('log.ts', import.meta.url).href;
const TURNED_CLOCK = new URL('turned-clock.ts', import.meta.url).href;

/** Runs a process of its own; once it says "ready" it gets the signals, each after the next line in its log. */
async function run(code: string, signals: NodeJS.Signals[]): Promise<{ exitCode: number | null; messages: string[] }> {
  const head = `import { logFatalErrors, Shutdown } from '${SHUTDOWN}'; import { createLog } from '${LOG}';
    import { TurnedClock } from '${TURNED_CLOCK}';
    const log = createLog({ service: 'test', level: 'info' });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', head + code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const left = [...signals];
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    for (let lines = chunk.toString().split('\n').length - 1; lines > 0; lines -= 1) {
      const signal = left.shift();
      if (signal !== undefined) child.kill(signal);
    }
  });
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return {
    exitCode,
    messages: output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg),
  };
}

const shutdown = `
   const open = setInterval(() => {}, 1000);
   const clock = new TurnedClock();
   const shutdown = new Shutdown({ graceMs: 60_000, log, clock });`;

const untilStopped = (after = '') =>
  `${shutdown}
   log.info('ready');
   await shutdown.untilBegun();
   ${after}`;

const end = "clearInterval(open); log.info('closed');";

describe('a shutdown', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('lets the process close what it opened at %s', async (signal) => {
    const { exitCode, messages } = await run(untilStopped(end), [signal]);
    expect(messages).toEqual(['ready', 'shutdown.begun', 'closed']);
    expect(exitCode).toBe(0);
  });

  test('says at once that it has begun, and when what is in hand has had its time', async () => {
    const heard = `shutdown.begun.addEventListener('abort', () => log.info('begun'));
      shutdown.due.addEventListener('abort', () => log.info('due'));`;
    const { exitCode, messages } = await run(
      `${shutdown} ${heard}
       log.info('ready');
       await shutdown.untilBegun();
       await clock.runFor(49_999); log.info('in time'); await clock.runFor(1); ${end}`,
      ['SIGTERM'],
    );
    expect(messages).toEqual(['ready', 'shutdown.begun', 'begun', 'in time', 'due', 'closed']);
    expect(exitCode).toBe(0);
  });

  test.each([
    ['that holds something has failed', 'shutdown.watch(() => 0); shutdown.watch(() => 1);', 1],
    ['that holds nothing has not failed', 'shutdown.watch(() => 0);', 0],
  ])('ends a process that has not closed when its time is over; one %s', async (_, watched, code) => {
    const { exitCode, messages } = await run(
      untilStopped(
        `${watched} await clock.runFor(59_999); log.info('in time'); await clock.runFor(1); log.info('late'); process.exit();`,
      ),
      ['SIGTERM'],
    );
    expect(messages).toEqual(['ready', 'shutdown.begun', 'in time', 'shutdown.overdue']);
    expect(exitCode).toBe(code);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('ends a process at once that does not work yet, at %s', async (signal) => {
    const starting = "log.info('starting'); await new Promise(() => undefined); await shutdown.untilBegun();";
    const { exitCode, messages } = await run(`${shutdown} ${starting}`, [signal]);
    expect(messages).toEqual(['starting', 'shutdown.begun', 'process.stopped']);
    expect(exitCode).toBe(0);
  });

  test('ends a process that has closed all, and in which something lingers', async () => {
    const closed = "shutdown.ended(); await clock.runFor(999); log.info('lingers'); await clock.runFor(1);";
    const { exitCode, messages } = await run(untilStopped(`${closed} log.info('for ever');`), ['SIGTERM']);
    expect(messages).toEqual(['ready', 'shutdown.begun', 'process.stopped', 'lingers']);
    expect(exitCode).toBe(0);
  });

  test('does not hide that a process failed which was not told to stop', async () => {
    const failing = "shutdown.ended(); await clock.runFor(1_000); throw new Error('a mistake');";
    const { exitCode, messages } = await run(`logFatalErrors(log); ${shutdown} ${failing}`, []);
    expect(messages).toEqual(['process.stopped', 'process.failed']);
    expect(exitCode).toBe(1);
  });

  test.each([
    ['SIGINT', 'SIGINT'],
    ['SIGTERM', 'SIGINT'],
  ] as const)('ends the process at once at a second signal: %s, %s', async (...signals) => {
    const { exitCode, messages } = await run(untilStopped(), [...signals]);
    expect(messages).toEqual(['ready', 'shutdown.begun', 'shutdown.forced']);
    expect(exitCode).toBe(1);
  });
});

describe('the grace time', () => {
  test.each([
    [75_000, 65_000],
    [20_000, 10_000],
    [8_000, 4_000],
  ])('of %i ms leaves %i ms for what is in hand', (graceMs, leftMs) => {
    expect(endingMs(graceMs)).toBe(leftMs);
    expect(graceFor(leftMs)).toBe(graceMs);
  });
});

describe('logFatalErrors', () => {
  test.each([
    ['thrown', "setTimeout(() => { throw new Error('a mistake'); });"],
    ['rejected', "void Promise.reject(new Error('a mistake'));"],
  ])('logs what was %s and not caught, and ends the process with 1', async (_, code) => {
    const { exitCode, messages } = await run(`logFatalErrors(log); ${code}`, []);
    expect(messages).toEqual(['process.failed']);
    expect(exitCode).toBe(1);
  });
});
