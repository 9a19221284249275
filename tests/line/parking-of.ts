import type { ParkingStore } from '@waybell/deliverer/parking/parking-store';
import type { MemoryParking } from '@waybell/deliverer/parking/testing/memory-parking';
import type { ParkedRow } from '@waybell/line/messages';
import type { MemoryLink, SideEffect } from '@waybell/line/testing/memory-link';

type Shared = {
  parking: MemoryParking;
  /** Looks there, or throws `Unavailable` while Postgres is away. */
  ask: <T>(look: () => T) => T;
};

/** The parking of that link's process: the process dies before something is done there, and does nothing more after its end. */
export function parkingOf(link: MemoryLink, { parking, ask }: Shared): ParkingStore {
  return new Proxy<ParkingStore>(parking, {
    get:
      (store, name: keyof ParkingStore) =>
      async (...args: never[]) => {
        const effect = effectOf(name, args);
        const isAlive = effect === undefined ? !link.isDead : link.survives(effect);
        if (!isAlive) return new Promise(() => undefined);
        // While nothing is parked no process asks: to ask every second would fill days.
        if (name === 'lease') await parking.untilFilled();
        // Each function takes its own arguments.
        return ask(() => (store[name] as (...given: never[]) => Promise<unknown>)(...args));
      },
  });
}

/** Before what a process may die where it parks. */
function effectOf(name: keyof ParkingStore, [rows]: readonly unknown[]): SideEffect | undefined {
  if (name === 'remove') return { what: 'remove' };
  if (name !== 'insert') return undefined;
  // It is what insert takes.
  return { what: 'insert', deliveries: (rows as readonly ParkedRow[]).map(({ delivery }) => delivery) };
}
