import { requireTimers } from './require-options.ts';
import type { Begun, Store } from './store.ts';

const KINDS: readonly unknown[] = ['new', 'in_progress', 'done'] satisfies Begun['kind'][];

/** The store, whose calls all reject where they throw, and resolve where they return nothing. Throws where it is no store. */
export function guardStore(store: Store): Store {
  for (const name of ['begin', 'renew', 'finish', 'fail'] as const)
    if (typeof store[name] !== 'function') throw new TypeError(`"store" has no ${name}`);
  requireTimers({ leaseMs: store.leaseMs });
  return {
    leaseMs: store.leaseMs,
    async begin(id) {
      // A store in plain JavaScript was seen by no compiler.
      const begun = (await store.begin(id)) as Begun | undefined;
      if (begun === undefined || !KINDS.includes(begun.kind))
        throw new TypeError(`"store" began with ${JSON.stringify(begun)}, which is no kind of beginning`);
      return begun;
    },
    renew: async (id, lease) => store.renew(id, lease),
    finish: async (id, lease) => store.finish(id, lease),
    fail: async (id, lease) => store.fail(id, lease),
  };
}
