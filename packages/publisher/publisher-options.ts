import { addressesIn } from '@waybell/runtime/addresses';

/** The log of a publisher or a relay. A logger of pino is one. */
export interface PublisherLog {
  info: (facts: object, message: string) => void;
  warn: (facts: object, message: string) => void;
}

export interface PublisherOptions {
  /** `amqp://` or `amqps://`; several nodes of a cluster are separated by commas. Throws at once where it is missing. */
  url: string | undefined;
  /** PEM: the authorities that may vouch for the broker, and what this process shows of itself. */
  tls?: { ca?: string | undefined; cert?: string | undefined; key?: string | undefined } | undefined;
  /** The user of `url`, if its team has its own queue for rejected events: sent as `user_id`, which the broker checks. */
  userId?: string | undefined;
  /** Shown in the broker's list of connections. `publisher` unless given. */
  name?: string | undefined;
  /** Seconds. 10 unless given. */
  heartbeatSeconds?: number | undefined;
  /** An event without a confirm for this long is sent again, in milliseconds; defaults to 30,000. */
  confirmTimeoutMs?: number | undefined;
  /** Bytes of events that may be unconfirmed at once; `publish` waits for capacity. 32 MiB unless given. */
  bufferBytes?: number | undefined;
  /**
   * Gets warnings about lost connections, missing parts of the broker, and late events. Without it each warning is printed once.
   */
  log?: PublisherLog | undefined;
}

const SCHEMES = new Set(['amqp:', 'amqps:']);
/** Limit of a timer. */
const MOST = 2 ** 31 - 1;

/** Returns the address of a broker; throws for anything else, without showing it, as it may hold a password. */
export function checkedUrl(url: string | undefined): string {
  if (url === undefined || url === '') throw new TypeError('url is missing: set AMQP_URL');
  const isOne = (address: string) => URL.canParse(address) && SCHEMES.has(new URL(address).protocol);
  if (typeof url !== 'string' || !addressesIn(url).every(isOne))
    throw new TypeError('url must be amqp://user:password@host:5672/virtual-host, or amqps://');
  return url;
}

/** Throws where one of them is no number above 0. */
export function checkNumbers(numbers: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(numbers))
    if (typeof value !== 'number' || !(value > 0 && value <= MOST))
      throw new TypeError(`${name} must be a number above 0 and at most ${MOST}, not ${String(value)}`);
}

/** Throws where one of them is given and no text. */
export function checkTexts(texts: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(texts))
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      throw new TypeError(`${name} must be a text, and not empty`);
}

/**
 * Returns the log of a publisher or a relay. A log that throws does not interrupt it. Without a given log, each warning is
 * printed once, so that a missing broker or table is noticed.
 */
export function guardedLog(given: PublisherLog | undefined): PublisherLog {
  if (given === undefined) return { info: () => undefined, warn: printedOnce() };
  return {
    info: (facts, message) => runGuarded(() => given.info(facts, message)),
    warn: (facts, message) => runGuarded(() => given.warn(facts, message)),
  };
}

/** Runs a caller's function; prints what it throws. */
export function runGuarded(run: () => unknown): void {
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
