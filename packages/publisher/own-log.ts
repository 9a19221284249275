import type { PublisherLog } from './publisher-options.ts';

/**
 * Returns the log of a publisher or a relay. A log that throws does not interrupt it. Without a given log, each warning is
 * printed once, so that a missing broker or table is noticed.
 */
export function ownLog(given: PublisherLog | undefined): PublisherLog {
  if (given === undefined) return { info: () => undefined, warn: printedOnce() };
  return {
    info: (facts, message) => unharmed(() => given.info(facts, message)),
    warn: (facts, message) => unharmed(() => given.warn(facts, message)),
  };
}

/** Runs a caller's function; prints what it throws, and goes on. */
export function unharmed(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    print(error instanceof Error ? error.message : String(error));
  }
}

function printedOnce(): PublisherLog['warn'] {
  const printed = new Set<string>();
  return (facts, message) => {
    if (printed.has(message)) return;
    printed.add(message);
    print(`${message} ${JSON.stringify(facts)}`);
  };
}

const print = (what: string): void => process.emitWarning(what, 'WaybellWarning');
