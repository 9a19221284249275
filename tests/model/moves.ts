import { delivererMoves } from './deliverer-moves.ts';
import { replicas } from './fault-moves.ts';
import type { Copy, State } from './state.ts';
import { nameOf, replicaName, type Move, type World } from './world.ts';

/** Everything that may happen next while nothing goes wrong. */
export function regularMoves(state: State, world: World): Move[] {
  return [
    ...state.waiting.flatMap((copy) => brokerMoves(state, copy, world)),
    ...state.works.flatMap((work) => delivererMoves(state, work, world)),
  ];
}

function brokerMoves(state: State, copy: Copy, world: World): Move[] {
  const waiting = state.waiting.filter((each) => each !== copy);
  return replicas(world)
    .filter((replica) => takes(state, replica, copy))
    .map((replica) => ({
      label: `${replicaName(replica)} takes ${nameOf(copy)} from the ${copy.door}`,
      to: { ...state, waiting, works: [...state.works, { replica, copy, isHeld: true, stage: { kind: 'taken' } }] },
    }));
}

/** Suspects are taken one at a time; who takes from the quarantine has nothing else in hand. */
function takes({ works }: State, replica: number, { door }: Copy): boolean {
  const inHand = works.filter((work) => work.replica === replica && work.isHeld).map(({ copy }) => copy.door);
  if (door === 'quarantine') return inHand.length === 0;
  return !inHand.includes('quarantine') && (door === 'queue' || !inHand.includes('suspects'));
}
