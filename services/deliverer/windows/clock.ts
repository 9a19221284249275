/** Time as the windows know it: milliseconds that only ever grow, and something done later unless it is called off. */
export type Clock = { now: () => number; after: (delayMs: number, run: () => void) => CallOff };
export type CallOff = () => void;

export const systemClock: Clock = {
  now: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
