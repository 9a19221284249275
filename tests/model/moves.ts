import { cameAgain, copyKey, distinct, nameOf, type Copy } from './copies.ts';
import { handlingMoves, recalling } from './handling.ts';
import { leaseMoves, leasing } from './leases.ts';
import { apply, sourcesOf, take, without, type Asked } from './replica.ts';
import { putting, roomMoves, settling, timeMoves } from './rooms.ts';
import type { Setting } from './setting.ts';
import {
  answered,
  backInQueues,
  described,
  placesIn,
  remembered,
  replaced,
  storing,
  subjectOf,
  waitedAs,
  withMarks,
  type Move,
  type Place,
  type World,
  hearing,
  renewed,
} from './world.ts';
import { noResult } from '@waybell/line/messages';
import { Unavailable } from '@waybell/runtime/unavailable';

/** Everything that may happen next while nothing goes wrong. */
export function regularMoves(world: World, setting: Setting): Move[] {
  const waiting = distinct(world.waiting);
  return placesIn(world, setting)
    .flatMap((place) => [
      ...waiting.filter((copy) => mayTake(place, copy)).map((copy) => taken(place, [copy])),
      ...takenTogether(place),
      ...handlingMoves(place),
      ...closingMoves(place),
      ...roomMoves(place),
      ...leaseMoves(place),
      ...place.replica.inFlight.flatMap((asked) => answers(place, asked)),
      ...outageMoves(place),
      ...blockedMoves(place),
    ])
    .concat(timeMoves(world), sendingMoves(world));
}

/**
 * Suspects are taken one at a time, with nothing in hand that came again, by a new replica only once all of that was taken; and nothing
 * in a long outage.
 */
function mayTake({ world, replica: { held, state, isNew } }: Place, { lane }: Copy): boolean {
  if (state.outage === 'long' || state.isClosing) return false;
  if (lane === 'queue') return true;
  const inHand = [...held.values()];
  if (inHand.some((copy) => copy.lane === 'suspects' || cameAgain(copy))) return false;
  return !isNew || !world.waiting.some(cameAgain);
}

/** The socket brings two messages at once. */
function takenTogether(place: Place): Move[] {
  const { waiting } = place.world;
  const all = waiting.filter((copy) => copy.lane === 'queue' && mayTake(place, copy));
  const pairs = all.flatMap((one, index) => all.slice(index + 1).map((other) => [one, other] as const));
  return [...new Map(pairs.map((pair) => [pair.map(copyKey).toSorted().join(), pair])).values()].map((pair) =>
    taken(place, pair),
  );
}

function taken(place: Place, copies: readonly Copy[]): Move {
  const { world, name } = place;
  // Takes as many of equal copies as fit.
  const waiting = [...world.waiting];
  for (const copy of copies) waiting.splice(waiting.indexOf(copy), 1);
  const what = copies.map((copy) => `${nameOf(copy)} from the ${copy.lane}`).join(' and ');
  return {
    label: `${name} takes ${what}`,
    to: () => replaced(place, take(place, copies), { waiting }),
  };
}

/** A dependency is back, or has been away for too long. */
function outageMoves(place: Place): Move[] {
  const { replica, name, setting } = place;
  const next = { none: [], short: ['back', 'outlasted'], long: ['back'] } as const;
  return next[replica.state.outage].map((kind) => ({
    label: `what ${name} needs is ${kind === 'back' ? 'back' : 'away for long'}`,
    to: () => replaced(place, apply(replica, [{ kind }], setting.rules)),
  }));
}

/** The broker's alarm is over. */
function blockedMoves(place: Place): Move[] {
  const { replica, name, setting } = place;
  if (replica.state.broker !== 'blocked') return [];
  const input = { kind: 'broker', is: 'writable' } as const;
  const to = () => replaced(place, apply(replica, [input], setting.rules));
  return [{ label: `the broker takes what ${name} publishes again`, to }];
}

/** Any process sends what waits in the room of its destination. */
function sendingMoves(world: World): Move[] {
  return [...new Set(world.publications)].map((publication) => {
    const publications = world.publications.toSpliced(world.publications.indexOf(publication), 1);
    const change = storing(world, publication);
    const to = () => ({ ...world, publications, ...change });
    return {
      label: `what has waited is sent on: ${described(publication)}`,
      to,
      isQuiet: change.records !== undefined,
    };
  });
}

/** How the world answers what a replica asked for. */
function answers(place: Place, asked: Asked): Move[] {
  const { world, replica, name } = place;
  const what = subjectOf(place, asked);
  switch (asked.kind) {
    case 'run':
      return asked.isRecalled ? [] : [recalling(place, asked, [...world.remembered, ...replica.own])];
    case 'publish': {
      if (replica.state.broker === 'blocked') return [];
      const { sending, publication } = asked;
      const change = storing(world, publication);
      const to = () => answered(place, asked, [{ kind: 'confirmed', sendings: [sending] }], change);
      return [{ label: `the broker confirms ${what} to ${name}`, to, isQuiet: change.records !== undefined }];
    }
    case 'put': {
      const put = { kind: 'confirmed', sendings: [asked.sending] } as const;
      const to = () => answered(place, asked, [put], inRoom(world, asked.what));
      return [{ label: `${name} puts ${what} into a room`, to }];
    }
    case 'remember': {
      const to = () => remembered(place, asked, { remembered: withMarks(world.remembered, asked.marks) });
      return [{ label: `${name} remembers ${what}`, to }];
    }
    case 'store':
      return [{ label: `${name} puts ${what} into the room while it is under way`, to: () => leasing(place, asked) }];
    case 'acknowledge':
      return [{ label: `${name} acknowledges ${what}`, to: () => released(place, asked) }];
    case 'give back':
      return [{ label: `${name} gives ${what} back`, to: () => released(place, asked) }];
  }
}

function released(place: Place, asked: Asked<'acknowledge' | 'give back'>): World {
  const { replica } = place;
  const [source = 0] = sourcesOf(asked);
  const copy = replica.held.get(source);
  const change = copy === undefined ? {} : releasing(place, asked.kind, copy);
  return answered({ ...place, replica: without(replica, source) }, asked, [], change);
}

/** A row stays where it is until its source is acknowledged. That says that the claim's process lives. */
function releasing(place: Place, kind: 'acknowledge' | 'give back', copy: Copy): Partial<World> {
  const { world, index } = place;
  if (kind === 'give back') return backInQueues(place, [copy]);
  if (copy.row === undefined) return {};
  return { ...settling(world, copy.row), ...(world.claimed === index ? { crashes: 0 } : {}) };
}

/** The effect of a committed put. */
export function inRoom(world: World, what: Asked<'put'>['what']): Partial<World> {
  if (what.kind === 'wait') return putting(world, what.row);
  return { publications: [...world.publications, waitedAs(what)] };
}

/** How a replica ends that was told to. */

const OVER = noResult(new Unavailable('time', () => Promise.resolve()));

/** It releases the room, which is claimed by its own. */
function leftBy({ world: { claimed, ranOutOf }, index }: Place): Partial<World> {
  if (claimed === index) return { claimed: undefined, crashes: 0 };
  return ranOutOf === index ? { ranOutOf: undefined } : {};
}

function closingMoves(place: Place): Move[] {
  const { replica, name } = place;
  if (!replica.state.isClosing) return [];
  const { state } = replica;
  const ends = () => ({ ...renewed(place), ...leftBy(place) });
  const running = [...state.members.values()].filter(({ isRunning }) => isRunning).map(({ id }) => id);
  // Their results may still arrive.
  const cut = () => hearing(place, [{ kind: 'threw', members: running, why: OVER }]);
  return [
    ...(running.length === 0 ? [] : [{ label: `${name} ends what is at work`, to: cut }]),
    { label: `${name} gives back what it has, and ends; a new one begins`, to: ends },
  ];
}
