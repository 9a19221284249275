import type { Delivery } from '@waybell/line/delivery';
import { distinct, nameOf, type Copy } from './copies.ts';
import type { AnswerKind } from './deliverer.ts';
import { isOpen, keeping, openMoves, withoutOpen } from './open.ts';
import { copyOf, isAmong, withoutRow } from './parked.ts';
import { apply, take, without, type Asked, type Replica } from './replica.ts';
import type { Setting } from './setting.ts';
import {
  answered,
  asking,
  backInQueues,
  described,
  isLate,
  keptAs,
  knowing,
  parking,
  placesIn,
  remembered,
} from './world.ts';
import { replaced, storing, subjectOf, withMark } from './world.ts';
import type { Move, Place, World } from './world.ts';

/** Everything that may happen next while nothing goes wrong. */
export function regularMoves(world: World, setting: Setting): Move[] {
  const waiting = distinct(world.waiting);
  return placesIn(world, setting)
    .flatMap((place) => [
      ...waiting.filter((copy) => mayTake(place.replica, copy)).map((copy) => taken(place, copy)),
      ...ownerMoves(place),
      ...openMoves(place),
      ...place.replica.inFlight.flatMap((asked) => answers(place, asked)),
      ...besideMoves(place),
      ...outageMoves(place),
      ...blockedMoves(place),
    ])
    .concat(keptMoves(world));
}

/** Suspects are taken one at a time, from the quarantine only with nothing else in hand, and nothing in a long outage. */
function mayTake({ held, state }: Replica, { lane }: Copy): boolean {
  if (state.outage === 'long') return false;
  const copies = [...held.values()];
  const doors = copies.map((copy) => copy.lane);
  if (lane === 'quarantine') return doors.length === 0;
  const isAlone = copies.some((copy) => copy.lane === 'quarantine' && !copy.isBeside);
  return !isAlone && (lane === 'queue' || !doors.includes('suspects'));
}

/** What is alone is so for a while at most. */
function besideMoves(place: Place): Move[] {
  const { replica, name, setting } = place;
  if (!setting.isSlow) return [];
  return [...replica.held].flatMap(([source, copy]) => {
    if (copy.lane !== 'quarantine' || copy.isBeside) return [];
    const held = new Map([...replica.held, [source, { ...copy, isBeside: true }]]);
    return [{ label: `${name} goes on beside ${nameOf(copy)}`, to: () => replaced(place, { ...replica, held }) }];
  });
}

function taken(place: Place, copy: Copy): Move {
  const { world, replica, name, setting } = place;
  // One of those that are alike.
  const waiting = world.waiting.toSpliced(world.waiting.indexOf(copy), 1);
  return {
    label: `${name} takes ${nameOf(copy)} from the ${copy.lane}`,
    to: () => replaced(place, take(replica, copy, setting.deliverer.rules), { waiting }),
  };
}

/** The owner of what is parked takes it, unless it has it in hand; what has no owner is leased. */
function ownerMoves(place: Place): Move[] {
  const { world, replica, name, index, setting } = place;
  if (isLate(place)) {
    const known = () => replaced(place, knowing(place).replica);
    return [{ label: `${name} learns that its lease is over`, to: known }];
  }
  if (world.parked.length === 0) return [];
  if (world.owner === undefined) {
    return [{ label: `${name} leases what is parked`, to: () => ({ ...world, owner: index }) }];
  }
  if (world.owner !== index || replica.state.outage === 'long') return [];
  const inHand = new Set([...replica.held.values()].map(({ row }) => row));
  return world.parked
    .filter((row) => !inHand.has(row))
    .map((row) => {
      const copy = copyOf(row, world.deaths);
      const to = () => replaced(place, take(replica, copy, setting.deliverer.rules));
      return { label: `${name} takes ${nameOf(copy)} from what is parked`, to };
    });
}

/** What was away is back, or has been away for too long. */
function outageMoves(place: Place): Move[] {
  const { replica, name, setting } = place;
  const next = { none: [], short: ['back', 'outlasted'], long: ['back'] } as const;
  return next[replica.state.outage].map((kind) => ({
    label: `what ${name} needs is ${kind === 'back' ? 'back' : 'away for long'}`,
    to: () => replaced(place, apply(replica, [{ kind }], setting.deliverer.rules)),
  }));
}

/** The broker's alarm is over. */
function blockedMoves(place: Place): Move[] {
  const { replica, name, setting } = place;
  if (replica.state.broker !== 'blocked') return [];
  const input = { kind: 'broker', is: 'writable' } as const;
  const to = () => replaced(place, apply(replica, [input], setting.deliverer.rules));
  return [{ label: `the broker takes what ${name} publishes again`, to }];
}

/** Any process sends what was kept. */
function keptMoves(world: World): Move[] {
  return [...new Set(world.kept)].map((publication) => {
    const kept = world.kept.toSpliced(world.kept.indexOf(publication), 1);
    const change = storing(world, publication);
    const to = () => ({ ...world, kept, ...change });
    return { label: `what was kept is sent on: ${described(publication)}`, to, isQuiet: change.records !== undefined };
  });
}

/** How the world answers what a replica asked for. */
function answers(place: Place, asked: Asked): Move[] {
  const { world, replica, name, setting } = place;
  const what = subjectOf(place, asked);
  switch (asked.kind) {
    case 'recall': {
      const { member, key } = asked;
      const known = [...world.remembered, ...replica.own].find((mark) => mark.key === key)?.fingerprint;
      const label = `${name} ${known === undefined ? 'does not know' : 'recognises'} ${what}`;
      return [{ label, to: () => answered(place, asked, [{ kind: 'recalled', member, known }]) }];
    }
    case 'run':
      return answersTo(world, asked.message, setting).map((answer) => handled(place, asked, answer));
    case 'publish': {
      if (replica.state.broker === 'blocked') return [];
      const { sending, publication } = asked;
      const change = storing(world, publication);
      const to = () => answered(place, asked, [{ kind: 'confirmed', sending }], change);
      return [{ label: `the broker confirms ${what} to ${name}`, to, isQuiet: change.records !== undefined }];
    }
    case 'keep': {
      const { sending, publication } = asked;
      const kept = [...world.kept, keptAs(publication)];
      const to = () => answered(place, asked, [{ kind: 'confirmed', sending }], { kept });
      return [{ label: `${name} keeps ${what}`, to }];
    }
    case 'park': {
      const { sending, parked } = asked;
      const to = () => answered(place, asked, [{ kind: 'confirmed', sending }], parking(world, parked));
      return [{ label: `${name} parks ${what}`, to }];
    }
    case 'remember': {
      const to = () => remembered(place, asked, { remembered: withMark(world.remembered, asked.mark) });
      return [{ label: `${name} remembers ${what}`, to }];
    }
    case 'lease':
      return [{ label: `${name} keeps ${what} elsewhere`, to: () => keeping(place, asked) }];
    case 'acknowledge':
      return [{ label: `${name} acknowledges ${what}`, to: () => released(place, asked) }];
    case 'give back':
      return [{ label: `${name} gives ${what} back`, to: () => released(place, asked) }];
  }
}

/** How handling it may go: what is parked already is not handled. */
function answersTo({ parked, open }: World, delivery: Delivery, { answers: all, parks }: Setting): AnswerKind[] {
  if (delivery.mayBeParked && (isAmong(parked, delivery) || isOpen(open, delivery))) return ['parked already'];
  const isMoved = (delivery.hop ?? 0) >= parks;
  return all.filter((answer) => !isMoved || answer !== 'full');
}

/** A replica that finds only now that its lease is over learns it by that. */
function handled(place: Place, asked: Asked<'run'>, answer: AnswerKind): Move {
  const { world, setting, name } = place;
  const { member, message } = asked;
  const isOver = message.parked !== undefined && isLate(place);
  const { requests, caused } = setting.deliverer.handled(message, answer, { isHeld: !isOver });
  const came = caused === undefined ? ({ kind: 'threw', member, error: 'too late' } as const) : undefined;
  const input = came ?? ({ kind: 'returned', member, caused: caused ?? [] } as const);
  const to = () => answered(isOver ? knowing(place) : place, asked, [input], asking(world, message, requests));
  const late = isOver ? ', too late' : '';
  return { label: `${name} handles ${subjectOf(place, asked)}: ${answer}${late}`, to };
}

function released(place: Place, asked: Asked<'acknowledge' | 'give back'>): World {
  const { world, replica } = place;
  const copy = replica.held.get(asked.source);
  const change = copy === undefined ? {} : releasing(world, asked.kind, copy);
  return answered({ ...place, replica: without(replica, asked.source) }, asked, [], change);
}

/** A row stays where it is until its source is acknowledged. */
function releasing(world: World, kind: 'acknowledge' | 'give back', copy: Copy): Partial<World> {
  if (kind === 'give back') return backInQueues(world, [copy]);
  if (copy.kept !== undefined) return { open: withoutOpen(world, copy.message) };
  if (copy.row === undefined) return {};
  return { parked: withoutRow(world.parked, copy.row), deaths: 0 };
}
