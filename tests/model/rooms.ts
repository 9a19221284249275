/** Rows in the room of the endpoint, which are put, taken and settled, and the claim on the room. */
import { rowKeyOf, type Delivery } from '@waybell/line/delivery';
import type { WaitingRow } from '@waybell/line/messages';
import { nameOf, type Copy } from './copies.ts';
import { cutOff, take } from './replica.ts';
import { copyOf, COUNTED_CRASHES, ROOM } from './rows.ts';
import { replaced } from './world.ts';
import type { Move, Place, World } from './world.ts';

export function putting({ rows }: World, row: WaitingRow): Partial<World> {
  return {
    rows: [...rows.filter(({ what }) => what.id !== row.id), { what: { ...row }, isDue: row.afterMs === undefined }],
  };
}

/** It stays, and whoever has taken it cannot settle it any more. */
export function retaining({ rows }: World, delivery: Delivery): Partial<World> {
  const { id } = rowKeyOf(delivery, ROOM);
  return { rows: rows.map((row) => (row.what.id === id ? { ...row, what: { ...row.what } } : row)) };
}

export function isWaiting({ rows }: World, delivery: Delivery): boolean {
  const { id } = rowKeyOf(delivery, ROOM);
  return delivery.mayWait === true && rows.some(({ what }) => what.id === id);
}

export function settling({ rows }: World, taken: WaitingRow): Partial<World> {
  return { rows: rows.filter(({ what }) => what !== taken) };
}

/** The claim is over, and whose it was does not know, or is dead. */
export function ranOut({ claimed }: World, isDead = false): Partial<World> {
  return { claimed: undefined, ranOutOf: isDead ? undefined : claimed, isRanOut: true };
}

/** Whether the claim under which the replica took rows is over, and it does not know yet. */
export function isLate({ world, index, replica }: Place): boolean {
  return world.claimed !== index && [...replica.held.values()].some(isClaimedRow);
}

/** The place once the replica has learned that. */
export function knowing(place: Place): Place {
  return { ...place, replica: cutOff(place.replica, isClaimedRow, place.setting.rules) };
}

/** Whether it was taken from the room; what is under way is there too. */
const isClaimedRow = ({ row, lease }: Copy) => row !== undefined && lease === undefined;

/** A room is claimed while a row is due, its rows are taken, and it is released while none is in hand. */
export function roomMoves(place: Place): Move[] {
  const { world, replica, name, index } = place;
  if (isLate(place)) {
    const known = () => replaced(place, knowing(place).replica);
    return [{ label: `${name} learns that its claim is over`, to: known }];
  }
  const isTaking = replica.state.outage !== 'long' && !replica.state.isClosing;
  if (world.claimed === undefined) {
    if (!isTaking || !world.rows.some(({ isDue }) => isDue)) return [];
    return [{ label: `${name} claims the room`, to: () => ({ ...world, ...claiming(place) }) }];
  }
  if (world.claimed !== index) return [];
  const inHand = new Set([...replica.held.values()].map(({ row }) => row?.id));
  const taken = world.rows.flatMap(({ what, isDue }) => {
    if (!isTaking || !isDue || inHand.has(what.id)) return [];
    const copy = copyOf(what, world.crashes);
    const to = () => replaced(place, take(place, [copy]));
    return [{ label: `${name} takes ${nameOf(copy)} from the room`, to }];
  });
  if ([...replica.held.values()].some(isClaimedRow)) return taken;
  const to = () => ({ ...world, claimed: undefined, crashes: 0 });
  return [...taken, { label: `${name} releases the room`, to, isRelease: true }];
}

/** One that comes back to what it had is not dead. */
function claiming({ world, index }: Place): Partial<World> {
  const isAnothers = world.isRanOut && world.ranOutOf !== index;
  const crashes = isAnothers ? Math.min(world.crashes + 1, COUNTED_CRASHES) : world.crashes;
  return { claimed: index, crashes, isRanOut: false, ranOutOf: undefined };
}

/** A row is due when nobody has postponed it; a statement whose answer was not awaited is carried out. */
export function timeMoves(world: World): Move[] {
  const { rows, unheard, replicas } = world;
  const postponed = new Set(
    replicas.flatMap(({ held }) => [...held.values()].flatMap(({ row, lease }) => (lease === 'in time' ? [row] : []))),
  );
  const due = rows.flatMap((row, place) => {
    if (row.isDue || postponed.has(row.what)) return [];
    const to = () => ({ ...world, rows: rows.with(place, { ...row, isDue: true }) });
    return [{ label: `${nameOf(copyOf(row.what, 0))} is due in the room`, to }];
  });
  const put = unheard.map((row, place) => {
    const to = () => ({ ...world, ...putting(world, row), unheard: unheard.toSpliced(place, 1) });
    return { label: `${nameOf(copyOf(row, 0))} is in the room after all`, to };
  });
  return [...due, ...put];
}
