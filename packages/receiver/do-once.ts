import type { Store } from './store.ts';

export type Outcome =
  | { kind: 'done' | 'repeated' | 'in_progress' }
  | { kind: 'failed'; in: 'store' | 'work' | 'time limit'; error: unknown };

export type OnceOptions = {
  store: Store;
  /** After so long, in milliseconds, nobody waits any longer. Work goes on and counts if it ends well; its lease is not renewed. */
  withinMs: number;
  /** It was done or failed, and the store could not be told: it may be done twice, once its lease is over. */
  onUnrecorded: (error: unknown) => void;
};

/** Does something unless it was done before, or is being done. */
export async function doOnce(id: string, work: () => unknown, options: OnceOptions): Promise<Outcome> {
  const { store, withinMs, onUnrecorded } = options;
  let begun;
  try {
    begun = await store.begin(id);
  } catch (error) {
    return { kind: 'failed', in: 'store', error };
  }
  if (begun.kind === 'done') return { kind: 'repeated' };
  if (begun.kind === 'in_progress') return begun;
  const { lease } = begun;
  const settle = async (): Promise<Outcome> => {
    try {
      await work();
    } catch (error) {
      await store.fail(id, lease).catch(onUnrecorded);
      return { kind: 'failed', in: 'work', error };
    }
    await store.finish(id, lease).catch(onUnrecorded);
    return { kind: 'done' };
  };
  const renewing = renewed(store, id, lease);
  const timer = new AbortController();
  try {
    return await Promise.race([settle(), after(withinMs, timer.signal)]);
  } finally {
    timer.abort();
    clearInterval(renewing);
  }
}

function renewed(store: Store, id: string, lease: string): NodeJS.Timeout | undefined {
  if (store.leaseMs === Infinity) return undefined;
  // Not renewed once, it has two more chances before it is over.
  return setInterval(() => void store.renew(id, lease).catch(() => undefined), store.leaseMs / 3);
}

/** Resolves after so long, unless the signal is given before. */
function after(delayMs: number, signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve) => {
    const error = new Error(`not done after ${delayMs} ms: see "enqueue"`);
    const timer = setTimeout(resolve, delayMs, { kind: 'failed', in: 'time limit', error });
    signal.addEventListener('abort', () => clearTimeout(timer));
  });
}
