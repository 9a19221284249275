import { spawn } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';

const SHUTDOWN = new URL('shutdown.ts', import.meta.url).href;
const LOG = new URL('log.ts', import.meta.url).href;
const TURNED_CLOCK = new URL('turned-clock.ts', import.meta.url).href;

/** Runs a process of its own; once it says "ready" it gets the signals, each after the next line in its log. */
async function run(code: string, signals: NodeJS.Signals[]): Promise<{ exitCode: number | null; messages: string[] }> {
  const head = `import { logFatalErrors, untilShutdown } from '${SHUTDOWN}'; import { createLog } from '${LOG}';
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

const untilStopped = (after = '') =>
  `const open = setInterval(() => {}, 1000);
   const clock = new TurnedClock();
   const stopped = untilShutdown({ graceMs: 60_000, log, clock });
   log.info('ready');
   await stopped;
   ${after}`;

describe('untilShutdown', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('lets the process close what it opened at %s', async (signal) => {
    const { exitCode, messages } = await run(untilStopped("clearInterval(open); log.info('closed');"), [signal]);
    expect(messages).toEqual(['ready', 'shutdown.begun', 'closed']);
    expect(exitCode).toBe(0);
  });

  test('ends a process that has not closed when its time is over', async () => {
    const { exitCode, messages } = await run(
      untilStopped(
        "await clock.runFor(59_999); log.info('in time'); await clock.runFor(1); log.info('late'); process.exit();",
      ),
      ['SIGTERM'],
    );
    expect(messages).toEqual(['ready', 'shutdown.begun', 'in time', 'shutdown.overdue']);
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
