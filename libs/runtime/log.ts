import { destination, pino, stdSerializers, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

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
    },
    gatheringStdout(),
  );
}

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
