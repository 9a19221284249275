import type { Delivery } from '@waybell/line/delivery';
import type { Member, Sending, SourceInHand } from '@waybell/line/hand-over/state';
import type { Mark } from '@waybell/line/once';
import { copyKey, doorKey, messageKey, storedOf, type Copy } from './copies.ts';
import { Parts } from './parts.ts';
import { sourcesOf, type Asked, type Replica } from './replica.ts';
import { isCurrent, rowKey } from './rows.ts';
import type { World } from './world.ts';

/**
 * The same for worlds in which the same can happen: no ids, no delays, and no order of replicas unless one knows what another does not. Counts
 * are not in it.
 */
export function worldKey(world: World): string {
  const { waiting, rows, unheard, publications, crashes, remembered, records, replicas } = world;
  const copies = [...waiting, ...replicas.flatMap(({ held }) => [...held.values()])];
  const hasOrder = replicas.length > 1 && copies.some(({ seen }) => seen.length > 0);
  const doing = replicas.map(
    (replica, index) => replicaKey(replica, world) + claimKey(world, index) + (hasOrder ? ` at ${index}` : ''),
  );
  const inRooms = [
    ...rows.map(({ what, isDue }) => `${rowKey(what)} ${isDue}`),
    ...unheard.map((row) => `unheard ${rowKey(row)}`),
    ...publications.map((what) => `to send ${sentKey(what)}`),
  ];
  const claims = [`${crashes} ${world.isRanOut}`];
  const keys = [waiting.map(copyKey), inRooms, claims, remembered.map(markKey), records, doing];
  return keys.map((some) => some.toSorted().join()).join('|');
}

const markKey = ({ key, fingerprint }: Mark) => `${key} ${fingerprint}`;

function claimKey({ claimed, ranOutOf }: World, index: number): string {
  return `${index === claimed ? ' has claimed' : ''}${index === ranOutOf ? ' had claimed' : ''}`;
}

function replicaKey({ state, held, inFlight, own, done, isNew, broken }: Replica, world: World): string {
  const works = new Works();
  for (const member of state.members.values()) works.of(member.id, memberKey(member));
  withPlaces([...state.members.values()], works);
  for (const id of state.deferred) works.of(id, 'waits');
  for (const { what, shares, isPut, asked } of state.sendings.values()) {
    for (const { member } of shares) works.of(member, `${isPut ? `puts ${asked}` : 'sends'} ${sentKey(what)}`);
  }
  const sources = new Works();
  const late: Asked[] = [];
  for (const [id, copy] of held) sources.of(id, `held ${heldKey(copy, world)}`);
  for (const source of state.sources.values()) sources.of(source.id, sourceKey(source));
  for (const id of done) sources.of(id, 'done');
  for (const { id, parts: left } of state.members.values())
    if (left instanceof Parts) works.of(id, `part ${left.asked}`);
  for (const asked of inFlight) {
    if (asked.kind === 'store') works.of(asked.member, `store ${messageKey(asked.message)}`);
    else if ('members' in asked) {
      const what = togetherKey(asked, state);
      for (const member of asked.members) works.of(member, what);
    } else if ('sending' in asked && !state.sendings.has(asked.sending)) late.push(asked);
    else for (const source of sourcesOf(asked)) sources.of(source, asked.kind);
  }
  // A member is part of its source's.
  const members = [...state.members.values()].map(({ id, source }) => ({ source, work: works.take(id) }));
  for (const { source, work } of members.toSorted(byWork)) sources.of(source, `(${work})`);
  const others = [...own.map(markKey), ...late.map(lateKey)].toSorted();
  const is = [state.outage, state.broker, state.isClosing, isNew, broken];
  return [...is, ...works.all(), ...sources.all(), ...others].join('+');
}

function heldKey(copy: Copy, world: World): string {
  const { row, lease = '' } = copy;
  const isThere = row !== undefined && isCurrent(world.rows, row);
  return `${copyKey(copy)} ${row === undefined ? '' : rowKey(row)} ${isThere} ${lease}`;
}

/** With which others it is asked for. */
function togetherKey(
  { kind, members, isRecalled, repeats = [], hasBegun }: Asked<'run' | 'remember'>,
  { members: all }: Replica['state'],
): string {
  const is = [isRecalled && 'recalled', hasBegun ? 'begun' : repeats.length > 0 && 'beside repeats'];
  const what = [kind, ...is].filter(Boolean).join(' ');
  if (members.length === 1) return what;
  const others = members.flatMap((id) => all.get(id) ?? []).map(doorKey);
  return `${what} with ${others.toSorted().join('&')}`;
}

/** Asked for, and no longer waited for. */
function lateKey(asked: Asked): string {
  if (asked.kind === 'publish') return `late ${asked.kind} ${sentKey(asked.publication)}`;
  if (asked.kind === 'put') return `late ${asked.kind} ${sentKey(asked.what)}`;
  return `late ${asked.kind}`;
}

const byWork = (one: { work: string }, other: { work: string }) => (one.work < other.work ? -1 : 1);

/** Parts of each. */
class Works {
  readonly #all = new Map<number, string>();

  of(id: number, what: string): void {
    this.#all.set(id, `${this.#all.get(id) ?? ''} ${what}`);
  }

  take(id: number): string {
    const taken = this.#all.get(id) ?? '';
    this.#all.delete(id);
    return taken;
  }

  all(): string[] {
    return [...this.#all.values()].toSorted();
  }
}

function sentKey(what: Sending['what']): string {
  if (what.kind === 'wait') return rowKey(what.row);
  const { copies, records } = storedOf(what);
  return [...copies.map(copyKey), ...records].join('&');
}

/** The size matters only if it came with several. */
function sourceKey({ size, open, back, isPartlyDone }: SourceInHand): string {
  const isOne = size === 1 && !isPartlyDone;
  return isOne ? '' : `${size - open} ${back.map(messageKey).toSorted().join()} ${isPartlyDone}`;
}

function memberKey(member: Member<Delivery>): string {
  const { purpose, isWorthRemembering, isAbandoned, isStoreRequested, failure } = member;
  const marks = [
    isWorthRemembering && 'new',
    isAbandoned && 'abandoned',
    isStoreRequested && 'slow',
    failure && 'failed',
  ];
  return `${doorKey(member)} ${purpose} ${marks.filter(Boolean).join(' ')}`;
}

/** A twin waits behind the one that has its key, and is younger. */
function withPlaces(members: readonly Member<Delivery>[], works: Works): void {
  const places = new Map<number, number>();
  for (const { id, twin } of members) {
    const place = places.get(id) ?? 0;
    if (twin === undefined && place === 0) continue;
    works.of(id, `place ${place}`);
    if (twin !== undefined) places.set(twin, place + 1);
  }
}
