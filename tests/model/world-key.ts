import type { Delivery } from '@waybell/line/delivery';
import type { Member, Sending } from '@waybell/line/hand-over/state';
import { copyKey, storedOf } from './copies.ts';
import { rowKey } from './parked.ts';
import type { Replica } from './replica.ts';
import type { World } from './world.ts';

/** The same for worlds in which the same can happen: no ids, no delays, no order of replicas. Counts are not in it. */
export function worldKey({ waiting, parked, owner, deaths, remembered, records, replicas }: World): string {
  const known = remembered.map(({ key, fingerprint }) => `${key} ${fingerprint}`);
  const doing = replicas.map((replica, index) => replicaKey(replica) + (index === owner ? ' owns' : ''));
  const keys = [waiting.map(copyKey), parked.map(rowKey), [String(deaths)], known, records, doing];
  return keys.map((some) => some.toSorted().join()).join('|');
}

function replicaKey({ state, held, inFlight }: Replica): string {
  // By the number that a source and its only member share.
  const works = new Map<number, string>();
  const add = (id: number, what: string) => works.set(id, `${works.get(id) ?? ''} ${what}`);
  for (const [id, copy] of held) add(id, `held ${copyKey(copy)}`);
  for (const member of state.members.values()) add(member.id, memberKey(member));
  for (const id of state.waiting) add(id, 'waits');
  for (const { what, shares } of state.sendings.values()) {
    for (const { member } of shares) add(member, `sends ${sentKey(what)}`);
  }
  for (const asked of inFlight) {
    if ('member' in asked) add(asked.member, asked.kind);
    else if ('source' in asked) add(asked.source, asked.kind);
  }
  withTwins([...state.members.values()], works);
  return `${state.outage}${[...works.values()].toSorted().join('+')}`;
}

function sentKey(what: Sending['what']): string {
  if (what.kind === 'park') return rowKey(what.row);
  const { copies, records } = storedOf(what);
  return [...copies.map(copyKey), ...records].join('&');
}

function memberKey(member: Member<Delivery>): string {
  const { purpose, isWorthRemembering, isAbandoned, failure } = member;
  const marks = [isWorthRemembering && 'new', isAbandoned && 'abandoned', failure && 'failed'].filter(Boolean);
  return `${copyKey(member)} ${purpose} ${marks.join(' ')}`;
}

/** A twin waits behind the one that has its key, and is younger: it becomes part of that one's. */
function withTwins(members: readonly Member<Delivery>[], works: Map<number, string>): void {
  for (const { id, twin } of members.toReversed()) {
    if (twin === undefined) continue;
    works.set(id, `${works.get(id)} before (${works.get(twin)})`);
    works.delete(twin);
  }
}
