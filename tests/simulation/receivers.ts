import type { Hold, TooMuch } from '@waybell/deliverer/flow/endpoint';

/** An endpoint by its kind of answer, with its load. Times are milliseconds. */
export type Receiver = {
  kind: string;
  /** Absent: its own account. */
  account?: string;
  host?: string;
  /** Absent: its own path. */
  path?: string;
  interface: 'carrier' | 'shipper';
  /** Returns the duration of a request made at `at`; Infinity if it is never answered. */
  answerMs: (at: number, random: () => number) => number;
  /** Whether it refuses a request that was made at `at` with 429 or 503, and for how long it asks to be left alone. */
  refuses?: (at: number) => Pick<TooMuch, 'askedMs'> | undefined;
  /** Times at which its subscription is held, or released. */
  holds?: readonly { at: number; hold?: Hold }[];
  /** Deliveries at once, and the mean interval of these bursts. */
  burst: number;
  everyMs: number;
};

export type Mix = {
  endpoints: number;
  /** Deliveries per second to all endpoints together, without bursts. */
  perSecond: number;
  /** Parts of the endpoints; the rest is fast. */
  slow: number;
  hung: number;
  flapping: number;
  bursting: number;
};

const HUNG_LOAD = 10;

/** Hung endpoints get ten times the load of others: 1 % of the endpoints take about 10 % of the traffic. */
export function receivers(mix: Mix): Receiver[] {
  const everyMs = (mix.endpoints * 1_000 * (1 + mix.hung * (HUNG_LOAD - 1))) / mix.perSecond;
  const count = (part: number) => Math.round(mix.endpoints * part);
  const ways: [number, Omit<Receiver, 'interface'>][] = [
    [count(mix.slow), { kind: 'slow', answerMs: between(1_500, 2_500), burst: 1, everyMs }],
    [count(mix.hung), { kind: 'hung', answerMs: () => Infinity, burst: 1, everyMs: everyMs / HUNG_LOAD }],
    [count(mix.flapping), { kind: 'flapping', answerMs: flapping, burst: 1, everyMs }],
    [count(mix.bursting), { kind: 'bursting', answerMs: between(10, 50), burst: 200, everyMs: 60_000 }],
  ];
  const others = ways.flatMap(([times, way]) => Array.from({ length: times }, (_, place) => asReceiver(way, place)));
  const fast = { kind: 'fast', answerMs: between(5, 50), burst: 1, everyMs };
  return [...Array.from({ length: mix.endpoints - others.length }, (_, place) => asReceiver(fast, place)), ...others];
}

/** Makes every other endpoint a shipper's, with a limit of 60 s; a carrier's is 3 s. */
function asReceiver(way: Omit<Receiver, 'interface'>, place: number): Receiver {
  // Two seconds are too close to a carrier's limit to be called an answer.
  return { ...way, interface: way.kind === 'slow' || place % 2 === 0 ? 'shipper' : 'carrier' };
}

function between(leastMs: number, mostMs: number): Receiver['answerMs'] {
  return (_, random) => leastMs + random() * (mostMs - leastMs);
}

const FLAP_MS = 30_000;
const quick = between(5, 50);
const flapping: Receiver['answerMs'] = (at, random) =>
  Math.floor(at / FLAP_MS) % 2 === 1 ? Infinity : quick(at, random);
