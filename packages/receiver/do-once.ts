import { inTime } from './in-time.ts';
import type { Store } from './store.ts';

export type DoOnceResult =
  | { kind: 'done' | 'repeated' | 'in_progress' }
  | { kind: 'failed'; in: 'store' | 'work'; error: unknown };

export type OnceOptions = {
  store: Store;
  /** Gets why the store does not know how work ended, so that it may be done twice. */
  onUnrecorded: (error: unknown) => void;
};

/** Does something unless it was done before, or is being done. The lease is renewed until the work ends, however long that takes. */
export async function doOnce(
  id: string,
  work: () => unknown,
  { store, onUnrecorded }: OnceOptions,
): Promise<DoOnceResult> {
  let begun;
  try {
    begun = await store.begin(id);
  } catch (error) {
    return { kind: 'failed', in: 'store', error };
  }
  if (begun.kind === 'done') return { kind: 'repeated' };
  if (begun.kind === 'in_progress') return begun;
  const { lease } = begun;
  const renewing = renew(store, id, lease);
  try {
    await work();
  } catch (error) {
    clearInterval(renewing);
    await record(store.fail(id, lease), onUnrecorded);
    return { kind: 'failed', in: 'work', error };
  }
  clearInterval(renewing);
  await record(store.finish(id, lease), onUnrecorded);
  return { kind: 'done' };
}

const RECORDED_WITHIN_MS = 1_000;

/** Waits for the store, but not for long: the deliverer waits as well. */
async function record(recording: Promise<void>, onUnrecorded: OnceOptions['onUnrecorded']): Promise<void> {
  const recorded = await inTime(recording.catch(onUnrecorded), RECORDED_WITHIN_MS);
  if (recorded === 'late') onUnrecorded(new Error(`not recorded after ${RECORDED_WITHIN_MS} ms`));
}

function renew(store: Store, id: string, lease: string): NodeJS.Timeout {
  let isUnderWay = false;
  const renewOnce = async (): Promise<void> => {
    // A store that hangs must not gather renewals, each with a connection of its own.
    if (isUnderWay) return;
    isUnderWay = true;
    await store.renew(id, lease).catch(() => undefined);
    isUnderWay = false;
  };
  // Not renewed once, it has two more chances before it is over.
  return setInterval(() => void renewOnce(), store.leaseMs / 3).unref();
}
