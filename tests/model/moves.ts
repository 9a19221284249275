import { closingMoves } from './closing.ts';
import { cameAgain, copyKey, distinct, nameOf, type Copy } from './copies.ts';
import { fingerprintsOf, handlingMoves } from './handling.ts';
import { keeping, openMoves, withoutOpen } from './open.ts';
import { copyOf, withoutRow } from './parked.ts';
import { apply, sourcesOf, take, without, type Asked, type Replica } from './replica.ts';
import type { Setting } from './setting.ts';
import { answered, backInQueues, described, isLate, keptAs, knowing, parking, placesIn, remembered } from './world.ts';
import { replaced, storing, subjectOf, withMarks } from './world.ts';
import type { Move, Place, World } from './world.ts';

/** Everything that may happen next while nothing goes wrong. */
export function regularMoves(world: World, setting: Setting): Move[] {
  const waiting = distinct(world.waiting);
  return placesIn(world, setting)
    .flatMap((place) => [
      ...waiting.filter((copy) => mayTake(place, copy)).map((copy) => taken(place, [copy])),
      ...takenTogether(place),
      ...handlingMoves(place),
      ...closingMoves(place),
      ...ownerMoves(place),
      ...openMoves(place),
      ...place.replica.inFlight.flatMap((asked) => answers(place, asked)),
      ...outageMoves(place),
      ...blockedMoves(place),
    ])
    .concat(keptMoves(world));
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
  // Of those that are alike, as many as are taken.
  const waiting = [...world.waiting];
  for (const copy of copies) waiting.splice(waiting.indexOf(copy), 1);
  const what = copies.map((copy) => `${nameOf(copy)} from the ${copy.lane}`).join(' and ');
  return {
    label: `${name} takes ${what}`,
    to: () => replaced(place, take(place, copies), { waiting }),
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
  if (world.owner !== index || replica.state.outage === 'long' || replica.state.isClosing) return [];
  const inHand = new Set([...replica.held.values()].map(({ row }) => row));
  return world.parked
    .filter((row) => !inHand.has(row))
    .map((row) => {
      const copy = copyOf(row, world.deaths);
      const to = () => replaced(place, take(place, [copy]));
      return { label: `${name} takes ${nameOf(copy)} from what is parked`, to };
    });
}

/** What was away is back, or has been away for too long. */
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
  const { world, replica, name } = place;
  const what = subjectOf(place, asked);
  switch (asked.kind) {
    case 'recall': {
      const { members, keys } = asked;
      const known = fingerprintsOf(keys, [...world.remembered, ...replica.own]);
      const isNews = known.every((fingerprint) => fingerprint === undefined);
      const label = `${name} ${isNews ? 'does not know' : 'recognises'} ${what}`;
      return [{ label, to: () => answered(place, asked, [{ kind: 'recalled', members, known }]) }];
    }
    case 'run':
      return [];
    case 'publish': {
      if (replica.state.broker === 'blocked') return [];
      const { sending, publication } = asked;
      const change = storing(world, publication);
      const to = () => answered(place, asked, [{ kind: 'confirmed', sendings: [sending] }], change);
      return [{ label: `the broker confirms ${what} to ${name}`, to, isQuiet: change.records !== undefined }];
    }
    case 'keep': {
      const { sending, publication } = asked;
      const kept = [...world.kept, keptAs(publication)];
      const to = () => answered(place, asked, [{ kind: 'confirmed', sendings: [sending] }], { kept });
      return [{ label: `${name} keeps ${what}`, to }];
    }
    case 'park': {
      const { sending, parked } = asked;
      const to = () => answered(place, asked, [{ kind: 'confirmed', sendings: [sending] }], parking(world, parked));
      return [{ label: `${name} parks ${what}`, to }];
    }
    case 'remember': {
      const to = () => remembered(place, asked, { remembered: withMarks(world.remembered, asked.marks) });
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

function released(place: Place, asked: Asked<'acknowledge' | 'give back'>): World {
  const { replica } = place;
  const [source = 0] = sourcesOf(asked);
  const copy = replica.held.get(source);
  const change = copy === undefined ? {} : releasing(place, asked.kind, copy);
  return answered({ ...place, replica: without(replica, source) }, asked, [], change);
}

/** A row stays where it is until its source is acknowledged. */
function releasing(place: Place, kind: 'acknowledge' | 'give back', copy: Copy): Partial<World> {
  const { world } = place;
  if (kind === 'give back') return backInQueues(place, [copy]);
  if (copy.kept !== undefined) return { open: withoutOpen(world, copy.message) };
  if (copy.row === undefined) return {};
  return { parked: withoutRow(world.parked, copy.row), deaths: 0 };
}
