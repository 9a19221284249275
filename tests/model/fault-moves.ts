import { publishInstead } from '@waybell/line/delivery';
import { type Waiting, Unroutable } from '@waybell/line/messages';
import { attemptOf, distinct, isOfBroker, membersOf, nameOf, NEW_COPY, type Copy } from './copies.ts';
import { fault, type Fault } from './fault.ts';
import { handlerFailures } from './handler-failures.ts';
import { recalling } from './handling.ts';
import { leaseFailures, leaseFaults } from './leases.ts';
import { inRoom } from './moves.ts';
import { cutOff, apply, isIdle, type Asked } from './replica.ts';
import { ranOut } from './rooms.ts';
import type { Setting } from './setting.ts';
import {
  answered,
  backInQueues,
  hearing,
  described,
  placesIn,
  remembered,
  renewed,
  replaced,
  storing,
  subjectOf,
  type Move,
  type Place,
  type World,
} from './world.ts';

/** Returns the faults that may happen next, one each. */
export function faultMoves(world: World, setting: Setting): Move[] {
  const faults = [
    ...placesIn(world, setting).flatMap((place) => [
      ...replicaFaults(place),
      ...leaseFaults(place),
      ...place.replica.inFlight.flatMap((asked) => failures(place, asked)),
    ]),
    ...distinct(world.waiting).flatMap((copy) => expiredTwice(world, copy)),
    ...[...new Set(world.publications)].map((publication) => {
      const to = () => ({ ...world, ...storing(world, publication) });
      return fault('unconfirmed', `no confirm comes for what has waited: ${described(publication)}`, to);
    }),
    ...(world.claimed === undefined
      ? []
      : [fault('claim lost', 'the claim on the room is over', () => ({ ...world, ...ranOut(world) }))]),
    fault('redis forgets', 'Redis forgets everything', () => ({ ...world, remembered: [] })),
  ];
  return faults
    .filter(({ kind }) => setting.faultKinds.includes(kind))
    .map(({ label, to }) => ({ label: `FAULT: ${label}`, to: () => ({ ...to(), faults: world.faults + 1 }) }));
}

function replicaFaults(place: Place): Fault[] {
  const { replica, name, setting } = place;
  if (isIdle(replica) && replica.own.length === 0) return [];
  const cut = () => {
    const left = cutOff(replica, isOfBroker, setting.rules);
    return replaced(place, left, backInQueues(place, replica.held.values()));
  };
  const blocks = () => replaced(place, apply(replica, [{ kind: 'broker', is: 'blocked' }], setting.rules));
  const blocked = fault('blocked', `the broker blocks ${name}`, blocks);
  return [
    ...(replica.state.broker === 'writable' ? [blocked] : []),
    fault('crash', `${name} dies`, () => dead(place)),
    fault('cut', `the connection of ${name} breaks`, cut),
    ...cutOne(place),
    ...closed(place),
  ];
}

/** The channel of one of its messages closes. */
function cutOne(place: Place): Fault[] {
  const { replica, name, setting } = place;
  return [...replica.held].flatMap(([source, copy]) => {
    if (!isOfBroker(copy)) return [];
    const left = () => cutOff(replica, (_, id) => id === source, setting.rules);
    const to = () => replaced(place, left(), backInQueues(place, [copy]));
    return [fault('cut one', `the broker takes ${nameOf(copy)} back from ${name}`, to)];
  });
}

function closed(place: Place): Fault[] {
  if (place.replica.state.isClosing) return [];
  return [fault('closing', `${place.name} is told to end`, () => hearing(place, [{ kind: 'closing' }]))];
}

function dead(place: Place): World {
  const { world, index } = place;
  const { claimed, ranOutOf } = world;
  if (claimed === index) return { ...renewed(place), ...ranOut(world, true) };
  return { ...renewed(place), ...(ranOutOf === index && { ranOutOf: undefined }) };
}

/** How what a replica asked for may fail. */
function failures(place: Place, asked: Asked): Fault[] {
  const { world, name } = place;
  const what = subjectOf(place, asked);
  switch (asked.kind) {
    case 'run': {
      const { label, to } = recalling(place, asked, place.replica.own);
      const withoutRedis = fault('redis away', `without Redis ${label}`, to);
      return [...(asked.isRecalled ? [] : [withoutRedis]), ...handlerFailures(place, asked, () => dead(place))];
    }
    case 'publish': {
      const { sending, publication } = asked;
      const change = storing(world, publication);
      const unconfirmed = (also = {}) => answered(place, asked, [{ kind: 'unconfirmed', sending }], also);
      const refused = (error: Unroutable) => answered(place, asked, [{ kind: 'refused', sending, error }]);
      return [
        fault('unconfirmed', `no confirm comes for ${what} of ${name}`, () => unconfirmed(change)),
        fault('refused', `the broker refuses ${what} of ${name}`, () => unconfirmed()),
        fault('stalled', `the queue of ${what} of ${name} stalls`, () =>
          answered(place, asked, [{ kind: 'stalled', sending }]),
        ),
        fault('returned', `no queue takes ${what} of ${name}`, () => refused(new Unroutable(publication))),
      ];
    }
    case 'put':
      return asked.what.kind === 'wait' ? notWaiting(place, asked, asked.what) : notPut(place, asked, what);
    case 'remember': {
      return [fault('redis away', `Redis does not take ${what} from ${name}`, () => remembered(place, asked))];
    }
    case 'store':
      return leaseFailures(place, asked, what);
    case 'acknowledge':
    case 'give back':
      return [];
  }
}

function notPut(place: Place, asked: Asked<'put'>, what: string): Fault[] {
  const failed = (also = {}) => answered(place, asked, [{ kind: 'unconfirmed', sending: asked.sending }], also);
  return [
    fault('postgres away', `${place.name} cannot put ${what} into a room`, () => failed()),
    fault('commit unheard', `${place.name} does not hear that ${what} is put into a room`, () =>
      failed(inRoom(place.world, asked.what)),
    ),
  ];
}

/** A delivery waits in a queue instead. */
function notWaiting(place: Place, asked: Asked<'put'>, waiting: Waiting): Fault[] {
  const { world, name, replica } = place;
  const { sending } = asked;
  const what = subjectOf(place, asked);
  const unheard = [...world.unheard, waiting.row];
  const refusal = { kind: 'refused', sending, error: 'no such column' } as const;
  const unconfirmed = { kind: 'unconfirmed', sending } as const;
  // A broker that takes nothing is not waited for.
  const isBlocked = replica.state.broker !== 'writable';
  const came = isBlocked ? unconfirmed : ({ kind: 'confirmed', sendings: [sending] } as const);
  const inQueue = isBlocked ? {} : storing(world, publishInstead(waiting));
  return [
    fault('postgres away', `${name} cannot put ${what} into the room`, () => answered(place, asked, [came], inQueue)),
    fault('commit unheard', `${name} does not hear that ${what} is put into the room`, () =>
      answered(place, asked, [came], { ...inQueue, unheard }),
    ),
    fault('unconfirmed', `no confirm comes for ${what}, which ${name} could not put into the room`, () =>
      answered(place, asked, [unconfirmed], inQueue),
    ),
    fault('returned', `no room takes ${what} of ${name}`, () => answered(place, asked, [refusal])),
  ];
}

/** A retry that came back from its delay queue did so twice. */
function expiredTwice(world: World, { lane, message }: Copy): Fault[] {
  const [only = message, ...others] = membersOf(message);
  if (lane !== 'queue' || others.length > 0 || attemptOf(only).attempt === 1) return [];
  const waiting = [...world.waiting, { ...NEW_COPY, lane, message: { ...message, deliveryCount: 0 } }];
  return [fault('expired twice', `${nameOf({ message })} comes due twice`, () => ({ ...world, waiting }))];
}
