import { destination, pino, stdSerializers, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

export type Log = Logger;

/** A line is written at the latest after this long; a system call for each would cost more than the line. */
const GATHER_MS = 250;
const FLUSH_BYTES = 8 * 1024;

/**
 * JSON lines on stdout, level and time by name. What was logged before the process ends by itself is written; a
 * `kill -9` loses the last quarter of a second. Never give it a body, a token or a secret; of an error, under `err`, it
 * takes only what it is and where it was thrown.
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

/** pino's own `periodicFlush` wakes two threads each time, although there be nothing to write. */
function gatheringStdout(): DestinationStream & { flushSync: () => void } {
  const stdout = destination({ dest: 1, sync: false, minLength: FLUSH_BYTES });
  let timer: NodeJS.Timeout | undefined;
  let isNew = false;
  const wait = () => setTimeout(flush, GATHER_MS).unref();
  function flush(): void {
    // Once more after the last line: while it is writing, a flush does nothing.
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
    // Asked for by `fatal`: the process may be gone a moment later.
    flushSync: () => stdout.flushSync(),
  };
}

// Libraries hang on their errors what they were given: an address with its password, a command with its arguments.
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { type, message, stack } = stdSerializers.err(error);
  return { type, message, stack, ...('code' in error && { code: error.code }) };
}
