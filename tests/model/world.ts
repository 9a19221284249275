import { publishDelivery, type Delivery } from '@waybell/line/delivery';
import { publishSuspect } from '@waybell/line/hand-over/suspicion';
import type { Input } from '@waybell/line/hand-over/state';
import { joinDeliveries } from '@waybell/line/delivery-batch';
import { withDelayElapsed, type Publication, type WaitingRow } from '@waybell/line/messages';
import type { Mark } from '@waybell/line/once';
import {
  DELIVERIES,
  isOfBroker,
  membersOf,
  nameOf,
  nameOfGuid,
  returned,
  storedOf,
  takenBack,
  unseen,
  type Copy,
} from './copies.ts';
import { firstAttempt } from './deliverer.ts';
import { apply, NEW_REPLICA, sourcesOf, type Asked, type Replica } from './replica.ts';
import { remembering } from './remembering.ts';
import { copyOf, type RoomRow } from './rows.ts';
import type { Setting } from './setting.ts';

/** The state of the world between two moves: what the broker and Redis have, what replicas are at, what was done. */
export type World = {
  /** In queues, and held by no replica. */
  waiting: readonly Copy[];
  replicas: readonly Replica[];
  /** In the room of the endpoint, in hand or not. */
  rows: readonly RoomRow[];
  /** To be put there by statements whose answer nobody awaits. */
  unheard: readonly WaitingRow[];
  /** The replica that has claimed the room. */
  claimed?: number | undefined;
  /** A claim ran out, and nobody has claimed the room since. Of which replica, if that one lives. */
  isRanOut: boolean;
  ranOutOf?: number | undefined;
  /** Claims in a row that ran out and were followed by another's. */
  crashes: number;
  /** In the rooms of their destinations until the broker takes them. */
  publications: readonly Publication[];
  /** In Redis. */
  remembered: readonly Mark[];
  /** Safe records. */
  records: readonly string[];
  /** Made so far, by delivery. */
  requests: Readonly<Record<string, number>>;
  faults: number;
};

/** One step of the world. */
export type Move = {
  label: string;
  to: () => World;
  /** It gets nothing done by itself. */
  isRelease?: boolean;
  /** It neither keeps anything else from happening nor lets anything happen that could not before. */
  isQuiet?: boolean;
};

/**
 * Each delivery on its way to its first attempt, all in one batch or each by itself, and the last already a suspect where
 * the setting says so.
 */
export function start({ deliveries, replicas, isBatched, isBesideSuspect, rules }: Setting): World {
  const names = DELIVERIES.slice(0, deliveries);
  const first = names.map((name) => ({ publication: publishDelivery(firstAttempt(name)) }));
  const sent = isBatched ? joinDeliveries(first) : first;
  const waiting = sent.flatMap(({ publication }, place) => {
    const { copies } = storedOf(publication);
    if (!isBesideSuspect || place < deliveries - 1) return copies;
    return copies
      .flatMap(({ message }) => membersOf(message))
      .flatMap((message) => storedOf(publishSuspect(message, rules.name, 0)).copies);
  });
  return {
    waiting,
    replicas: Array.from({ length: replicas }, () => NEW_REPLICA),
    rows: [],
    unheard: [],
    isRanOut: false,
    crashes: 0,
    publications: [],
    remembered: [],
    records: [],
    requests: Object.fromEntries(names.map((name) => [name, 0])),
    faults: 0,
  };
}

/** A replica, and the world around it. */
export type Place = { world: World; setting: Setting; index: number; replica: Replica; name: string };

export function placesIn(world: World, setting: Setting): Place[] {
  return world.replicas.map((replica, index) => {
    return { world, setting, index, replica, name: `deliverer ${index + 1}` };
  });
}

/** The world with another replica there, and whatever else is different. */
export function replaced({ world, index }: Place, replica: Replica, change: Partial<World> = {}): World {
  return { ...world, replicas: world.replicas.with(index, replica), ...change };
}

/** A request of the replica is done; the replica gets these inputs, and the world the other changes. */
export function answered(place: Place, done: Asked, inputs: readonly Input[], change: Partial<World> = {}): World {
  const { replica } = place;
  const inFlight = replica.inFlight.filter((asked) => asked !== done);
  return hearing({ ...place, replica: { ...replica, inFlight } }, inputs, change);
}

/** The world once the replica has heard that, and whatever else is different. */
export function hearing(place: Place, inputs: readonly Input[], change: Partial<World> = {}): World {
  return replaced(place, apply(place.replica, inputs, place.setting.rules), change);
}

/** It has remembered that itself, and whatever else is different. */
export function remembered(place: Place, asked: Asked<'remember'>, change: Partial<World> = {}): World {
  const { replica, setting } = place;
  const { members, marks } = asked;
  // With what Redis knows all the time, it would be no report.
  const isOwn = setting.faultKinds.some((kind) => kind === 'redis away' || kind === 'redis forgets');
  const own = isOwn ? withMarks(replica.own, marks) : replica.own;
  return answered({ ...place, replica: { ...replica, own } }, asked, [{ kind: 'remembered', members }], change);
}

export function withMarks(known: readonly Mark[], more: readonly Mark[]): readonly Mark[] {
  const keys = new Set(more.map(({ key }) => key));
  return [...known.filter(({ key }) => !keys.has(key)), ...more];
}

/** Returns the changes of a publication that is safe in its queues. */
export function storing({ waiting, records }: World, publication: Publication): Partial<World> {
  const stored = storedOf(publication);
  if (stored.records.length === 0) return { waiting: [...waiting, ...stored.copies] };
  return { records: [...new Set([...records, ...stored.records])] };
}

export function asking({ requests }: World, { guid }: Delivery, more: number): Partial<World> {
  const delivery = nameOfGuid(guid);
  return { requests: { ...requests, [delivery]: (requests[delivery] ?? 0) + more } };
}

/** The broker has taken them back from the replica. */
export function backInQueues({ world: { waiting }, index }: Place, copies: Iterable<Copy>): Partial<World> {
  return { waiting: [...waiting, ...[...copies].filter(isOfBroker).map((copy) => takenBack(copy, index))] };
}

/** The process is gone, with what it saw, and a new one is in its place. */
export function renewed({ world, index, replica }: Place): World {
  const back = [...replica.held.values()].filter(isOfBroker).map(returned);
  const waiting = [...world.waiting, ...back].map((copy) => unseen(copy, index));
  const others = world.replicas.map((other): Replica => {
    return { ...other, held: new Map([...other.held].map(([source, copy]) => [source, unseen(copy, index)])) };
  });
  return { ...world, waiting, replicas: others.with(index, NEW_REPLICA) };
}

/** A publication as it is to be sent once it has waited. */
export const waitedAs = remembering(
  (publication: Publication): Publication => withDelayElapsed(publication).publication,
);

/** The subject of what a replica asked for. */
export function subjectOf({ replica: { state, held } }: Place, asked: Asked): string {
  if (asked.kind === 'publish') return described(asked.publication);
  if (asked.kind === 'put')
    return asked.what.kind === 'wait' ? nameOf(copyOf(asked.what.row, 0)) : described(asked.what);
  if (asked.kind === 'acknowledge' || asked.kind === 'give back')
    return namesOf(sourcesOf(asked).map((source) => held.get(source)));
  const members = 'members' in asked ? asked.members : [asked.member];
  return namesOf(members.map((member) => state.members.get(member)));
}

function namesOf(copies: readonly (Pick<Copy, 'message'> | undefined)[]): string {
  return copies.map((copy) => (copy === undefined ? 'nothing' : nameOf(copy))).join(' and ');
}

export function described(publication: Publication): string {
  const { copies, records } = storedOf(publication);
  if (records.length > 0) return `the record "${records.join(', ')}"`;
  return copies.map((copy) => `${nameOf(copy)} to the ${copy.lane}`).join();
}
