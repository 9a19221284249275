import {
  destination,
  pino,
  stdSerializers,
  stdTimeFunctions,
  type DestinationStream,
  type Logger,
  type LoggerOptions,
} from 'pino';
import { systemClock, type Clock } from './clock.ts';

export type Log = Logger;

/** Limit of buffering a line: a system call for each would cost more than the line. */
const GATHER_MS = 250;
const FLUSH_BYTES = 8 * 1024;

/**
 * Writes JSON lines to stdout, with level and time by name. Lines logged before the process ends by itself are written; a `kill
 * -9` loses the last quarter of a second. Never log a body, a token or a secret. Of an error under `err` it writes only type,
 * message, code and stack.
 */
export function createLog({ service, level }: { service: string; level: string }): Log {
  return pino(
    {
      level,
      base: { service },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      hooks: { logMethod: leaveOutRepeats() },
    },
    gatheringStdout(),
  );
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;

const REPEATS = { most: 10, withinMs: 60_000, kinds: 1_000 };

/**
 * Leaves out what warns of the same again and again, as each of a thousand publishes would of a queue without a leader: at most ten a
 * minute of one message and reason, whatever numbers and ids are in it. The next line says how many were left out. Never leaves out a
 * line of one message or request.
 */
export function leaveOutRepeats(now: () => number = () => performance.now()): LogMethod {
  type Repeats = { since: number; lines: number; leftOut: number };
  const all = new Map<string, Repeats>();
  return function write(args, method, level) {
    const [given, message] = args as [unknown, unknown];
    const isOfOne = typeof given === 'object' && given !== null && ('messageId' in given || 'requestId' in given);
    if (isOfOne || !TROUBLE.has(level) || typeof message !== 'string') return method.apply(this, args);
    const key = `${message} ${reasonIn(given).replaceAll(/[0-9a-f-]{8,}|\d+/gi, '#')}`;
    const repeats = all.get(key) ?? { since: now(), lines: 0, leftOut: 0 };
    const isOver = now() - repeats.since >= REPEATS.withinMs;
    if (!isOver && repeats.lines >= REPEATS.most) return void (repeats.leftOut += 1);
    all.delete(key);
    all.set(key, isOver ? { since: now(), lines: 1, leftOut: 0 } : { ...repeats, lines: repeats.lines + 1 });
    for (const oldest of all.keys()) {
      if (all.size <= REPEATS.kinds) break;
      all.delete(oldest);
    }
    if (!isOver || repeats.leftOut === 0) return method.apply(this, args);
    return method.apply(this, [{ ...(given as object), leftOut: repeats.leftOut }, message]);
  };
}

/** The levels `warn` and `error`. */
const TROUBLE = new Set([40, 50]);

function reasonIn(given: unknown): string {
  if (typeof given !== 'object' || given === null) return '';
  return Object.entries(given)
    .filter(([name]) => REASONS.has(name))
    .map(([, value]) => (value instanceof Error ? value.message : String(value)))
    .join(' ');
}

/** Names of what distinguishes lines of one message. */
const REASONS = new Set([
  'reason',
  'err',
  'server',
  'connection',
  'queue',
  'exchange',
  'routingKey',
  'step',
  'for',
  'wrong',
  'todo',
]);

/** Flushes only if lines were written: pino's own `periodicFlush` wakes two threads each time. */
function gatheringStdout(): DestinationStream & { flushSync: () => void } {
  const stdout = destination({ dest: 1, sync: false, minLength: FLUSH_BYTES });
  let timer: NodeJS.Timeout | undefined;
  let isNew = false;
  const wait = () => setTimeout(flush, GATHER_MS).unref();
  function flush(): void {
    // Once more after the last line: a flush during a write does nothing.
    timer = isNew ? wait() : undefined;
    isNew = false;
    stdout.flush();
  }
  return {
    write(line) {
      stdout.write(line);
      isNew = true;
      timer ??= wait();
    },
    // Called by `fatal`: the process may be gone a moment later.
    flushSync: () => stdout.flushSync(),
  };
}

// Libraries attach their arguments to errors: an address with its password, a command with its arguments.
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { type, message, stack } = stdSerializers.err(error);
  return { type, message, stack, ...('code' in error && { code: error.code }) };
}

const WARN_AGAIN_MS = 60_000;

/**
 * Returns a function that logs errors as warnings, at most once a minute: retries against a server that is away repeat the same
 * error.
 */
export function throttledWarning(
  log: Pick<Log, 'warn'>,
  message: string,
  { now }: Pick<Clock, 'now'> = systemClock,
): (error: unknown) => void {
  let warnedAt = -Infinity;
  return (error) => {
    if (now() - warnedAt < WARN_AGAIN_MS) return;
    warnedAt = now();
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, message);
  };
}
