import { nameOf } from './copies.ts';
import { fault, type Fault } from './fault.ts';
import { asSent, dueIn, notRemoving, withOpen } from './open.ts';
import type { Asked } from './replica.ts';
import { answered, replaced, storing } from './world.ts';
import type { Place } from './world.ts';

/** How it may fail to keep one. */
export function leaseFailures(place: Place, asked: Asked<'lease'>, what: string): Fault[] {
  const { world, name } = place;
  const input = { kind: 'leased', member: asked.member, source: undefined } as const;
  const { open } = withOpen(world, asked);
  return [
    fault('postgres away', `${name} cannot keep ${what} elsewhere`, () => answered(place, asked, [input])),
    fault('commit unheard', `${name} does not hear that ${what} is kept elsewhere`, () =>
      answered(place, asked, [input], { open }),
    ),
  ];
}

/** What may go wrong with those that are kept, and with sending those that are due. */
export function openFaults(place: Place): Fault[] {
  const { world, replica, name } = place;
  const { held, sent } = replica;
  return [
    ...[...held].flatMap(([source, copy]) => {
      if (copy.kept !== 'in time') return [];
      const late = new Map([...held, [source, { ...copy, kept: 'late' as const }]]);
      const to = () => replaced(place, { ...replica, held: late });
      return [fault('late', `${name} is late with ${nameOf(copy)}`, to)];
    }),
    ...dueIn(world).map((row) => {
      const to = () => ({ ...world, ...storing(world, asSent(row)) });
      return fault('unconfirmed', `no confirm comes for what was kept: ${nameOf({ message: row })}`, to);
    }),
    ...sent.map((row) => {
      const to = () => replaced(place, notRemoving(replica, row));
      return fault('postgres away', `${name} cannot remove what it sent: ${nameOf({ message: row })}`, to);
    }),
  ];
}
