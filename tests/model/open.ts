/** First attempts that came in a batch and take long: kept in Postgres, so that their batch can go. */
import { publishKept, type Delivery } from '@waybell/line/delivery';
import type { Message, Publication } from '@waybell/line/messages';
import { attemptOf, isSeveral, nameOf, nameOfGuid, NEW_COPY } from './copies.ts';
import { remembering } from './remembering.ts';
import { cutOff, apply, type Asked, type Replica } from './replica.ts';
import { answered, replaced, storing } from './world.ts';
import type { Move, Place, World } from './world.ts';

/** What a replica does about them, unasked. */
export function openMoves(place: Place): Move[] {
  return [...slow(place), ...late(place), ...sent(place), ...removed(place)];
}

/** What is at work in a batch has been so for long. */
function slow({ setting, replica, ...place }: Place): Move[] {
  if (!setting.isSlow) return [];
  const rules = setting.rules;
  return [...replica.held].flatMap(([source, { message }]) => {
    if (!isSeveral(message)) return [];
    const told = apply(replica, [{ kind: 'slow', sources: new Set([source]) }], rules);
    const asked = told.inFlight.slice(replica.inFlight.length);
    // Only one, so that there is less to look at: what is kept is a matter of each by itself.
    if (asked.map((each) => each.kind === 'lease' && nameOf(each)).join() !== 'attempt 1 of A') return [];
    const to = () => replaced({ setting, replica, ...place }, told);
    return [{ label: `a batch is in the hands of ${place.name} for long`, to }];
  });
}

function late(place: Place): Move[] {
  const { replica, name, setting } = place;
  if (![...replica.held.values()].some(({ kept }) => kept === 'late')) return [];
  const to = () =>
    replaced(
      place,
      cutOff(replica, ({ kept }) => kept === 'late', setting.rules),
    );
  return [{ label: `${name} learns that it is late`, to }];
}

/** What is due is sent to its queue, and then removed. */
function sent(place: Place): Move[] {
  const { world, replica, name } = place;
  return dueIn(world).map((row) => ({
    label: `${name} sends what was kept: ${nameOf({ message: row })}`,
    to: () => replaced(place, { ...replica, sent: [...replica.sent, row] }, storing(world, asSent(row))),
  }));
}

function removed(place: Place): Move[] {
  const { world, replica, name } = place;
  return replica.sent.map((row) => ({
    label: `${name} removes what it sent: ${nameOf({ message: row })}`,
    to: () => replaced(place, notRemoving(replica, row), { open: withoutOpen(world, row) }),
  }));
}

/** The replica, no more about to remove it. */
export function notRemoving(replica: Replica, row: Message): Replica {
  return { ...replica, sent: replica.sent.filter((other) => other !== row) };
}

export const asSent = remembering(({ messageId = '', type = '', note = '', body }: Message): Publication => {
  return publishKept({ delivery: messageId, action: type, note, body, traceparent: null });
});

/** Kept by no replica that may still be at it, and not on its way to its queue; of those that are alike, one. */
export function dueIn({ open, replicas }: World): Message[] {
  const spokenFor = new Set(replicas.flatMap(({ held, sent: sending }) => [...sending, ...keptBy({ held })]));
  const due = open.filter((row) => !spokenFor.has(row));
  return [...new Map(due.map((row) => [openKey(row), row])).values()];
}

/** Whether that attempt is among them. */
export function isOpen(open: readonly Message[], { guid, attempt, mayBeOpen = false }: Delivery): boolean {
  return mayBeOpen && open.some((row) => openKey(row) === `${nameOfGuid(guid)}${attempt}`);
}

function keptBy({ held }: Pick<Replica, 'held'>): Message[] {
  return [...held.values()].flatMap(({ kept, message }) => (kept === 'in time' ? [message] : []));
}

export function openKey(row: Message): string {
  const { delivery, attempt } = attemptOf(row);
  return `${delivery}${attempt}`;
}

export function withOpen({ open }: World, { message }: Asked<'lease'>): { row: Message; open: readonly Message[] } {
  const row = { ...message };
  return { row, open: [...open, row] };
}

export function withoutOpen({ open }: World, row: Message): readonly Message[] {
  return open.filter((other) => other !== row);
}

/** It is kept, and the replica has it from there. No other source has such a number. */
export function keeping(place: Place, asked: Asked<'lease'>): World {
  const { world, replica } = place;
  const { row, open } = withOpen(world, asked);
  const source = -asked.member;
  const held = new Map([
    ...replica.held,
    [source, { ...NEW_COPY, lane: 'queue', message: row, kept: 'in time' } as const],
  ]);
  const input = { kind: 'leased', member: asked.member, source } as const;
  return answered({ ...place, replica: { ...replica, held } }, asked, [input], { open });
}
