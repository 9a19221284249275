import { describe, handleMoves, hasTurn, stored, verdict } from './deliverer-moves.ts';
import { failed, givenBack, puttingAside, suspect, withFate } from './settle.ts';
import type { Copy, Fate, Publishing, State, Work } from './state.ts';
import { asked, nameOf, replaced, replicaName, takenBack, type FaultKind, type Move, type World } from './world.ts';

/** What may go wrong next, one fault each. */
export function faultMoves(state: State, world: World): Move[] {
  if (state.faults >= world.faultLimit) return [];
  const moves = [
    ...replicas(world).flatMap((replica) => replicaFaults(state, replica, world)),
    ...state.works.flatMap((work) => workFaults(state, work, world)),
    ...state.waiting.flatMap((copy) => expiredTwice(state, copy)),
    fault('redis forgets', 'Redis forgets everything', { ...state, remembered: [] }),
  ];
  return moves
    .filter(({ kind }) => world.faultKinds.includes(kind))
    .map(({ label, to }) => ({ label: `FAULT: ${label}`, to: { ...to, faults: state.faults + 1 } }));
}

type Fault = Move & { kind: FaultKind };

const fault = (kind: FaultKind, label: string, to: State): Fault => ({ kind, label, to });

export function replicas({ replicas: count }: Pick<World, 'replicas'>): number[] {
  return Array.from({ length: count }, (_, replica) => replica);
}

function replicaFaults(state: State, replica: number, world: World): Fault[] {
  const own = state.works.filter((work) => work.replica === replica);
  if (own.length === 0) return [];
  const others = state.works.filter((work) => work.replica !== replica);
  const waiting = [...state.waiting, ...takenBack(own)];
  const cut = own.map((work) => ({ ...work, isHeld: false }));
  const dead = { ...state, waiting, works: others };
  const killer = own.find((work) => work.copy.delivery === 0 && isHandledNext(state, work, world));
  return [
    fault('crash', `${replicaName(replica)} dies`, dead),
    ...(killer ? [fault('kills', `${replicaName(replica)} dies of ${nameOf(killer.copy)}`, dead)] : []),
    fault('cut', `the connection of ${replicaName(replica)} breaks`, { ...state, waiting, works: [...others, ...cut] }),
  ];
}

function workFaults(state: State, work: Work, world: World): Fault[] {
  switch (work.stage.kind) {
    case 'taken':
      return isHandledNext(state, work, world) ? handlerFaults(state, work, world) : [];
    case 'publishing':
      return publishFaults(state, work, work.stage, world);
    case 'handed over':
      return [];
  }
}

function isHandledNext(state: State, work: Work, world: World): boolean {
  const { copy, isHeld } = work;
  return isHeld && work.stage.kind === 'taken' && verdict(copy, world) === undefined && hasTurn(state, work, world);
}

function handlerFaults(state: State, work: Work, world: World): Fault[] {
  const { key } = world.step(work.copy.delivery, work.copy.attempt);
  if (state.remembered.includes(key)) {
    const handled = handleMoves(state, work, world);
    return handled.map(({ label, to }) => fault('redis away', `Redis does not answer, and ${label}`, to));
  }
  const thrown = failed(state, work);
  const isToEndOfLane = work.copy.door !== 'queue' && world.handOver.givesBackSuspects === 'put aside';
  const away = isToEndOfLane
    ? replaced(state, work, puttingAside(work, suspect(work.copy, work.copy.failures)))
    : givenBack(state, work).to;
  return [
    fault('throws', thrown.label, { ...thrown.to, ...asked(state, work, 1) }),
    fault('outage', `${replicaName(work.replica)} cannot handle ${nameOf(work.copy)} for long`, away),
  ];
}

function publishFaults(state: State, work: Work, stage: Publishing, { handOver }: World): Fault[] {
  const { publications, isToBeRemembered } = stage;
  if (isToBeRemembered && publications.every(({ fate }) => fate === 'confirmed')) {
    const unremembered: Work = { ...work, stage: { kind: 'handed over' } };
    const label = `Redis does not take ${nameOf(work.copy)} from ${replicaName(work.replica)}`;
    return [fault('redis away', label, replaced(state, work, unremembered))];
  }
  const onTheWay = publications.filter(({ fate }) => fate === 'sent');
  return onTheWay.flatMap((sent) => {
    const what = `${describe(sent.what)} of ${replicaName(work.replica)}`;
    const to = (fate: Fate) => replaced(state, work, { ...work, stage: withFate(stage, sent, fate) });
    const again = work.isHeld ? 'sent' : 'given up';
    return [
      fault('unconfirmed', `no confirm comes for ${what}`, stored(state, work, stage, sent, again)),
      fault('refused', `the broker refuses ${what}`, to(handOver.hearsRefusals ? again : 'confirmed')),
      fault('returned', `no queue takes ${what}`, to(handOver.hearsReturns ? 'returned' : 'confirmed')),
    ];
  });
}

/** A retry that came back from its delay queue did so twice. */
function expiredTwice(state: State, copy: Copy): Fault[] {
  if (copy.attempt === 1 || copy.door !== 'queue') return [];
  const again = { ...copy, deliveryCount: 0 };
  return [fault('expired twice', `${nameOf(copy)} comes due twice`, { ...state, waiting: [...state.waiting, again] })];
}
