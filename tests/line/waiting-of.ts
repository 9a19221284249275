import type { MemoryLink } from '@waybell/line/testing/memory-link';
import type { MemoryWaiting } from '@waybell/line/waiting-room/testing/memory-waiting-store';
import type { WaitingStore } from '@waybell/line/waiting-room/waiting-store';

type Shared = {
  waiting: MemoryWaiting;
  /** Looks there, or throws `Unavailable` while Postgres is away. */
  ask: <T>(look: () => T) => T;
};

/** A query of every second, not simulated while nothing waits: it would fill days. */
const ASKED_ALWAYS = new Set<string>(['claim', 'shutRooms', 'lookAfterHeld', 'flushSums']);
let processes = 0;

/** The waiting room of that link's process: the process dies before something is done there, and does nothing more after its end. */
export function waitingOf(link: MemoryLink, { waiting, ask }: Shared): WaitingStore {
  return new Proxy<WaitingStore>(waiting.storeFor(`process ${(processes += 1)}`), {
    get:
      (store, name: keyof WaitingStore) =>
      async (...args: never[]) => {
        const isAlive = name === 'put' || name === 'settle' ? link.survives({ what: name }) : !link.isDead;
        if (!isAlive) return new Promise(() => undefined);
        if (ASKED_ALWAYS.has(name)) await waiting.untilFilled();
        // Each function takes its own arguments.
        return ask(() => (store[name] as (...given: never[]) => Promise<unknown>)(...args));
      },
  });
}
