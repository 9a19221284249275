import { distinct, nameOf, type Copy } from './copies.ts';
import { hear, take, without, type Asked, type Replica } from './replica.ts';
import type { Setting } from './setting.ts';
import { answered, asking, backInQueues, placesIn, replaced, storing, subjectOf } from './world.ts';
import type { Move, Place, World } from './world.ts';

/** Everything that may happen next while nothing goes wrong. */
export function regularMoves(world: World, setting: Setting): Move[] {
  const waiting = distinct(world.waiting);
  return placesIn(world, setting).flatMap((place) => [
    ...waiting.filter((copy) => mayTake(place.replica, copy)).map((copy) => taken(place, copy)),
    ...place.replica.inFlight.flatMap((asked) => answers(place, asked)),
    ...outageMoves(place),
  ]);
}

/** Suspects are taken one at a time, from the quarantine only with nothing else in hand, and nothing in a long outage. */
function mayTake({ held, state }: Replica, { door }: Copy): boolean {
  if (state.outage === 'long') return false;
  const doors = [...held.values()].map((copy) => copy.door);
  if (door === 'quarantine') return doors.length === 0;
  return !doors.includes('quarantine') && (door === 'queue' || !doors.includes('suspects'));
}

function taken(place: Place, copy: Copy): Move {
  const { world, replica, name, setting } = place;
  // Of those that are alike, one.
  const waiting = world.waiting.toSpliced(world.waiting.indexOf(copy), 1);
  return {
    label: `${name} takes ${nameOf(copy)} from the ${copy.door}`,
    to: () => replaced(place, take(replica, copy, setting.deliverer.rules), { waiting }),
  };
}

/** What was away is back, or has been away for too long. */
function outageMoves(place: Place): Move[] {
  const { replica, name, setting } = place;
  const next = { none: [], short: ['back', 'outlasted'], long: ['back'] } as const;
  return next[replica.state.outage].map((kind) => ({
    label: `what ${name} needs is ${kind === 'back' ? 'back' : 'away for long'}`,
    to: () => replaced(place, hear(replica, [{ kind }], setting.deliverer.rules)),
  }));
}

/** How the world answers what a replica asked for. */
function answers(place: Place, asked: Asked): Move[] {
  const { world, name, setting } = place;
  const what = subjectOf(place, asked);
  switch (asked.kind) {
    case 'recall': {
      const { member, key } = asked;
      const known = world.remembered.find((mark) => mark.key === key)?.fingerprint;
      const label = `${name} ${known === undefined ? 'does not know' : 'recognises'} ${what}`;
      return [{ label, to: () => answered(place, asked, [{ kind: 'recalled', member, known }]) }];
    }
    case 'run':
      return setting.answers.map((answer) => {
        const { member, message } = asked;
        const { requests, caused } = setting.deliverer.handled(message, answer);
        const change = asking(world, message, requests);
        const to = () => answered(place, asked, [{ kind: 'returned', member, caused }], change);
        return { label: `${name} handles ${what}: ${answer}`, to };
      });
    case 'publish': {
      const { sending, publication } = asked;
      const change = storing(world, publication);
      const to = () => answered(place, asked, [{ kind: 'confirmed', sending }], change);
      return [{ label: `the broker confirms ${what} to ${name}`, to, isQuiet: change.records !== undefined }];
    }
    case 'remember': {
      const { member, mark } = asked;
      const remembered = [...world.remembered.filter(({ key }) => key !== mark.key), mark];
      const to = () => answered(place, asked, [{ kind: 'remembered', member }], { remembered });
      return [{ label: `${name} remembers ${what}`, to }];
    }
    case 'acknowledge':
      return [{ label: `${name} acknowledges ${what}`, to: () => released(place, asked) }];
    case 'give back':
      return [{ label: `${name} gives ${what} back`, to: () => released(place, asked) }];
  }
}

function released(place: Place, asked: Asked<'acknowledge' | 'give back'>): World {
  const { world, replica } = place;
  const copy = replica.held.get(asked.source);
  const change = asked.kind === 'give back' && copy !== undefined ? backInQueues(world, [copy]) : {};
  return answered({ ...place, replica: without(replica, asked.source) }, asked, [], change);
}
