import { Unroutable } from '@waybell/line/publish-errors';
import { attemptOf, distinct, isOfBroker, membersOf, nameOf, NEW_COPY, type Copy } from './copies.ts';
import { fault, type Fault } from './fault.ts';
import { handlerFailures } from './handler-failures.ts';
import { fingerprintsOf } from './handling.ts';
import { leaseFailures, openFaults } from './open-faults.ts';
import { cutOff, apply, isIdle, type Asked } from './replica.ts';
import type { Setting } from './setting.ts';
import {
  answered,
  backInQueues,
  hearing,
  described,
  keptAs,
  orphaned,
  parking,
  placesIn,
  remembered,
  renewed,
  replaced,
  storing,
  subjectOf,
} from './world.ts';
import type { Move, Place, World } from './world.ts';

/** What may go wrong next, one fault each. */
export function faultMoves(world: World, setting: Setting): Move[] {
  const faults = [
    ...placesIn(world, setting).flatMap((place) => [
      ...replicaFaults(place),
      ...openFaults(place),
      ...place.replica.inFlight.flatMap((asked) => failures(place, asked)),
    ]),
    ...distinct(world.waiting).flatMap((copy) => expiredTwice(world, copy)),
    ...[...new Set(world.kept)].map((publication) => {
      const to = () => ({ ...world, ...storing(world, publication) });
      return fault('unconfirmed', `no confirm comes for what was kept: ${described(publication)}`, to);
    }),
    ...(world.owner === undefined
      ? []
      : [fault('lease lost', 'the lease of what is parked is over', () => ({ ...world, ...orphaned(world) }))]),
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
  return { ...renewed(place), ...(world.owner === index && orphaned(world)) };
}

/** How what a replica asked for may fail. */
function failures(place: Place, asked: Asked): Fault[] {
  const { world, name } = place;
  const what = subjectOf(place, asked);
  switch (asked.kind) {
    case 'recall': {
      const { members, keys } = asked;
      const known = fingerprintsOf(keys, place.replica.own);
      const to = () => answered(place, asked, [{ kind: 'recalled', members, known }]);
      return [fault('redis away', `Redis does not tell ${name} of ${what}`, to)];
    }
    case 'run':
      return handlerFailures(place, asked, () => dead(place));
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
    case 'keep': {
      const { sending, publication } = asked;
      const unheard = { kept: [...world.kept, keptAs(publication)] };
      const failed = (also = {}) => answered(place, asked, [{ kind: 'unconfirmed', sending }], also);
      return [
        fault('postgres away', `${name} cannot keep ${what}`, () => failed()),
        fault('commit unheard', `${name} does not hear that ${what} is kept`, () => failed(unheard)),
      ];
    }
    case 'park':
      return parkFailures(place, asked, what);
    case 'remember': {
      return [fault('redis away', `Redis does not take ${what} from ${name}`, () => remembered(place, asked))];
    }
    case 'lease':
      return leaseFailures(place, asked, what);
    case 'acknowledge':
    case 'give back':
      return [];
  }
}

/** It waits in a queue instead. */
function parkFailures(place: Place, asked: Asked<'park'>, what: string): Fault[] {
  const { world, name } = place;
  const { sending, parked } = asked;
  const inQueue = storing(world, parked.otherwise);
  const came = { kind: 'confirmed', sendings: [sending] } as const;
  const refusal = { kind: 'refused', sending, error: 'no such subscription' } as const;
  return [
    fault('postgres away', `${name} cannot park ${what}`, () => answered(place, asked, [came], inQueue)),
    fault('commit unheard', `${name} does not hear that ${what} is parked`, () =>
      answered(place, asked, [came], { ...inQueue, ...parking(world, parked) }),
    ),
    fault('unconfirmed', `no confirm comes for ${what}, which ${name} could not park`, () =>
      answered(place, asked, [{ kind: 'unconfirmed', sending }], inQueue),
    ),
    fault('returned', `${what} of ${name} may not be parked`, () => answered(place, asked, [refusal])),
  ];
}

/** A retry that came back from its delay queue did so twice. */
function expiredTwice(world: World, { lane, message }: Copy): Fault[] {
  const [only = message, ...others] = membersOf(message);
  if (lane !== 'queue' || others.length > 0 || attemptOf(only).attempt === 1) return [];
  const waiting = [...world.waiting, { ...NEW_COPY, lane, message: { ...message, deliveryCount: 0 } }];
  return [fault('expired twice', `${nameOf({ message })} comes due twice`, () => ({ ...world, waiting }))];
}
