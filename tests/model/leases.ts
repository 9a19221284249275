/** First attempts that came in a batch and take long: put into the room, so that their batch can go. */
import { isSeveral, nameOf, NEW_COPY, type Copy } from './copies.ts';
import { fault, type Fault } from './fault.ts';
import { putting } from './rooms.ts';
import { isCurrent, openRow } from './rows.ts';
import { cutOff, apply, type Asked } from './replica.ts';
import { answered, replaced } from './world.ts';
import type { Move, Place, World } from './world.ts';

/** Moves of a replica about leases, without a request. */
export function leaseMoves(place: Place): Move[] {
  return [...slow(place), ...late(place)];
}

/** Running members of a batch become slow. */
function slow({ setting, replica, ...place }: Place): Move[] {
  if (!setting.isSlow) return [];
  const rules = setting.rules;
  return [...replica.held].flatMap(([source, { message }]) => {
    if (!isSeveral(message)) return [];
    const told = apply(replica, [{ kind: 'slow', sources: new Set([source]) }], rules);
    const asked = told.inFlight.slice(replica.inFlight.length);
    // Only one, so that there is less to look at: each is put by itself.
    if (asked.map((each) => each.kind === 'store' && nameOf(each)).join() !== 'attempt 1 of A') return [];
    const to = () => replaced({ setting, replica, ...place }, told);
    return [{ label: `a batch is in the hands of ${place.name} for long`, to }];
  });
}

/** A lease that can no longer be postponed belongs to another process, now or soon. */
function late(place: Place): Move[] {
  const { replica, world, name, setting } = place;
  const isOver = ({ row, lease }: Copy) =>
    lease === 'late' || (lease === 'in time' && row !== undefined && !isCurrent(world.rows, row));
  if (![...replica.held.values()].some(isOver)) return [];
  return [
    { label: `${name} learns that it is late`, to: () => replaced(place, cutOff(replica, isOver, setting.rules)) },
  ];
}

/** It is in the room, and the replica has it from there. No other source has such a number. */
export function leasing(place: Place, asked: Asked<'store'>): World {
  const { world, replica } = place;
  const put = putting(world, openRow(asked.parsed));
  const row = put.rows?.at(-1)?.what;
  if (row === undefined) throw new Error('what was put is there');
  const source = -asked.member;
  const copy: Copy = { ...NEW_COPY, lane: 'queue', message: asked.message, row, lease: 'in time' };
  const input = { kind: 'stored', member: asked.member, source } as const;
  return answered(
    { ...place, replica: { ...replica, held: new Map([...replica.held, [source, copy]]) } },
    asked,
    [input],
    put,
  );
}

/** How it may fail to put one. */
export function leaseFailures(place: Place, asked: Asked<'store'>, what: string): Fault[] {
  const { world, name } = place;
  const input = { kind: 'stored', member: asked.member, source: undefined } as const;
  const unheard = [...world.unheard, openRow(asked.parsed)];
  return [
    fault('postgres away', `${name} cannot put ${what} into the room`, () => answered(place, asked, [input])),
    fault('commit unheard', `${name} does not hear that ${what} is put into the room`, () =>
      answered(place, asked, [input], { unheard }),
    ),
  ];
}

/** It does not postpone one in time. */
export function leaseFaults(place: Place): Fault[] {
  const { replica, name } = place;
  return [...replica.held].flatMap(([source, copy]) => {
    if (copy.lease !== 'in time') return [];
    const held = new Map([...replica.held, [source, { ...copy, lease: 'late' as const }]]);
    return [fault('late', `${name} is late with ${nameOf(copy)}`, () => replaced(place, { ...replica, held }))];
  });
}
