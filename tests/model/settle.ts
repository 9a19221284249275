import { failuresAfter } from '@waybell/line/hand-over/suspicion';
import {
  record,
  type Copy,
  type Fate,
  type Publication,
  type Publishing,
  type Sent,
  type Stage,
  type State,
  type Work,
} from './state.ts';
import { nameOf, replaced, replicaName, takenBack, type Move, type World } from './world.ts';

/** What follows when nothing is under way any more of what a copy caused. */
export function settled(state: State, work: Work, stage: Publishing, world: World): Move {
  const fates = new Set(stage.publications.map(({ fate }) => fate));
  if (fates.has('given up') || (fates.has('returned') && !work.isHeld)) return letGo(state, work);
  if (fates.has('returned')) {
    return stage.why === 'handled' ? failed(state, work) : givenBack(state, work);
  }
  if (stage.isToBeRemembered && world.handOver.remembers !== 'never') {
    return remembered(state, work, { kind: 'handed over' }, world);
  }
  return acknowledged(state, work, undefined);
}

/** The handler threw, or no queue takes what it caused: the copy is put aside, or rejected in the end. */
export function failed(state: State, work: Work): Move {
  const { copy } = work;
  const failures = failuresAfter(copy.door, copy.failures);
  const what = failures === undefined ? rejection(copy) : suspect(copy, failures);
  return {
    label: `${replicaName(work.replica)} fails with ${nameOf(copy)}`,
    to: replaced(state, work, puttingAside(work, what)),
  };
}

/** It goes back to its queue, and somebody will take it again. */
export function givenBack(state: State, work: Work): Move {
  return {
    label: `${replicaName(work.replica)} gives ${nameOf(work.copy)} back`,
    to: replaced(state, work, undefined, { waiting: [...state.waiting, ...takenBack([work])] }),
  };
}

/** The broker removes the copy, if this replica still holds it. `next`: what the replica is at then, if anything. */
export function acknowledged(state: State, work: Work, next: Work | undefined): Move {
  const label = `${replicaName(work.replica)} acknowledges ${nameOf(work.copy)}`;
  return { label: work.isHeld ? label : `${label} in vain`, to: replaced(state, work, next) };
}

export function remembered(state: State, work: Work, stage: Stage, { step }: World): Move {
  const { key } = step(work.copy.delivery, work.copy.attempt);
  return {
    label: `${replicaName(work.replica)} remembers ${nameOf(work.copy)}`,
    to: replaced(state, work, { ...work, stage }, { remembered: [...new Set([...state.remembered, key])] }),
  };
}

/** The broker has the copy already, and somebody else will take it. */
export function letGo(state: State, work: Work): Move {
  return {
    label: `${replicaName(work.replica)} lets go of ${nameOf(work.copy)}`,
    to: replaced(state, work, undefined),
  };
}

export function withFate(stage: Publishing, sent: Sent, fate: Fate): Publishing {
  return { ...stage, publications: stage.publications.map((each) => (each === sent ? { ...each, fate } : each)) };
}

export function puttingAside(work: Work, what: Publication): Work {
  const publications: Sent[] = [{ what, fate: 'sent' }];
  return { ...work, stage: { kind: 'publishing', why: 'put aside', isToBeRemembered: false, publications } };
}

export function suspect(copy: Copy, failures: number): Publication {
  return { kind: 'copy', copy: { ...copy, door: 'suspects', deliveryCount: 0, failures } };
}

export function quarantined(copy: Copy): Publication {
  return { kind: 'copy', copy: { ...copy, door: 'quarantine', deliveryCount: 0 } };
}

export function rejection({ delivery, attempt }: Copy): Publication {
  return { kind: 'record', record: record(delivery, attempt, 'rejected') };
}
