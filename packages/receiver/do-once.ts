import type { Store } from './store.ts';

export type Outcome =
  | { kind: 'done' | 'repeated' | 'in_progress' }
  | { kind: 'failed'; in: 'store' | 'work' | 'time limit'; error: unknown };

export type OnceOptions = {
  store: Store;
  /** After so long, in milliseconds, nobody waits any longer. Work goes on and counts if it ends well; its lease is not renewed. */
  withinMs: number;
  /** Gets what no outcome tells of: work that failed late, or an end that the store could not be told, so that it may be done twice. */
  onUnseen: (part: 'store' | 'work', error: unknown) => void;
};

/** Does something unless it was done before, or is being done. */
export async function doOnce(id: string, work: () => unknown, options: OnceOptions): Promise<Outcome> {
  const waiting = new AbortController();
  try {
    return await Promise.race([begin(id, work, options, waiting.signal), after(options.withinMs, waiting.signal)]);
  } finally {
    waiting.abort();
  }
}

async function begin(
  id: string,
  work: () => unknown,
  { store, onUnseen }: OnceOptions,
  waiting: AbortSignal,
): Promise<Outcome> {
  let begun;
  try {
    begun = await store.begin(id);
  } catch (error) {
    return { kind: 'failed', in: 'store', error };
  }
  if (begun.kind === 'done') return { kind: 'repeated' };
  if (begun.kind === 'in_progress') return begun;
  const { lease } = begun;
  const onUnrecorded = (error: unknown) => onUnseen('store', error);
  renew(store, id, lease, waiting);
  try {
    await work();
  } catch (error) {
    await store.fail(id, lease).catch(onUnrecorded);
    if (waiting.aborted) onUnseen('work', error);
    return { kind: 'failed', in: 'work', error };
  }
  await store.finish(id, lease).catch(onUnrecorded);
  return { kind: 'done' };
}

/** Renews a lease while somebody waits. */
function renew(store: Store, id: string, lease: string, waiting: AbortSignal): void {
  if (waiting.aborted) return;
  // Not renewed once, it has two more chances before it is over.
  const timer = setInterval(() => void store.renew(id, lease).catch(() => undefined), store.leaseMs / 3);
  timer.unref();
  waiting.addEventListener('abort', () => clearInterval(timer));
}

/** Resolves after so long, unless nobody waits any more. */
function after(delayMs: number, waiting: AbortSignal): Promise<Outcome> {
  return new Promise((resolve) => {
    const error = new Error(`not done after ${delayMs} ms: see "enqueue"`);
    const timer = setTimeout(resolve, delayMs, { kind: 'failed', in: 'time limit', error });
    timer.unref();
    waiting.addEventListener('abort', () => clearTimeout(timer));
  });
}
