import {
  acknowledged,
  letGo,
  puttingAside,
  quarantined,
  rejection,
  remembered,
  settled,
  suspect,
  withFate,
} from './settle.ts';
import {
  record,
  type Copy,
  type Fate,
  type Publication,
  type Publishing,
  type Sent,
  type State,
  type Work,
} from './state.ts';
import type { Caused } from './step-table.ts';
import { asked, nameOf, replaced, replicaName, type Move, type World } from './world.ts';

/** What a replica may do next with a copy that it has taken; of what it has published, what the broker may do. */
export function delivererMoves(state: State, work: Work, world: World): Move[] {
  switch (work.stage.kind) {
    case 'taken':
      return startMoves(state, work, world);
    case 'publishing':
      return publishMoves(state, work, work.stage, world);
    case 'handed over':
      return [acknowledged(state, work, undefined)];
  }
}

function startMoves(state: State, work: Work, world: World): Move[] {
  const { copy } = work;
  const what = verdict(copy, world);
  if (what !== undefined) {
    const label = `${replicaName(work.replica)} suspects ${nameOf(copy)}`;
    return [{ label, to: replaced(state, work, puttingAside(work, what)) }];
  }
  if (!hasTurn(state, work, world)) return [];
  const { key, repeated } = world.step(copy.delivery, copy.attempt);
  if (!state.remembered.includes(key)) return work.isHeld ? handleMoves(state, work, world) : [letGo(state, work)];
  const stage = publishing(copy, { ...repeated, isToBeRemembered: false });
  const label = `${replicaName(work.replica)} recognises ${nameOf(copy)}`;
  return [{ label, to: replaced(state, work, { ...work, stage }) }];
}

/** Where a copy goes, unhandled, because of how often it was in hand when its replica died. */
export function verdict(copy: Copy, { handOver }: World): Publication | undefined {
  switch (handOver.verdictOf(copy.door, copy.deliveryCount)) {
    case 'handle':
      return undefined;
    case 'put aside':
      return suspect(copy, 0);
    case 'quarantine':
      return quarantined(copy);
    case 'reject':
      return rejection(copy);
  }
}

/** Whether the same replica is at no other copy of the same attempt. */
export function hasTurn({ works }: State, { replica, copy }: Work, { step, handOver }: World): boolean {
  const keyOf = ({ delivery, attempt }: Copy) => step(delivery, attempt).key;
  return !handOver.takesTurns || !works.some((other) => isInTurn(other, replica) && keyOf(other.copy) === keyOf(copy));
}

function isInTurn({ replica, stage }: Work, where: number): boolean {
  const isAtIt = stage.kind === 'handed over' || (stage.kind === 'publishing' && stage.why === 'handled');
  return replica === where && isAtIt;
}

/** Redis knows nothing of it. Asking and handling are one move: nobody can see what happens in between. */
export function handleMoves(state: State, work: Work, { step, answers }: World): Move[] {
  const { handled } = step(work.copy.delivery, work.copy.attempt);
  return answers.map((answer) => {
    const stage = publishing(work.copy, handled[answer]);
    return {
      label: `${replicaName(work.replica)} handles ${nameOf(work.copy)}: ${answer}`,
      to: replaced(state, work, { ...work, stage }, asked(state, work, handled[answer].requests)),
    };
  });
}

function publishing({ delivery, attempt: current }: Copy, { retries, ends, isToBeRemembered }: Caused): Publishing {
  const copies = retries.map((attempt): Publication => {
    return { kind: 'copy', copy: { delivery, attempt, door: 'queue', deliveryCount: 0, failures: 0 } };
  });
  const records = ends.map((end): Publication => ({ kind: 'record', record: record(delivery, current, end) }));
  const publications = [...copies, ...records].map((what): Sent => ({ what, fate: 'sent' }));
  return { kind: 'publishing', why: 'handled', isToBeRemembered, publications };
}

function publishMoves(state: State, work: Work, stage: Publishing, world: World): Move[] {
  const onTheWay = stage.publications.filter(({ fate }) => fate === 'sent');
  if (onTheWay.length === 0) return [settled(state, work, stage, world)];
  const moves = onTheWay.map((sent) => confirmed(state, work, stage, sent));
  const { acknowledges, remembers } = world.handOver;
  if (remembers === 'when sent' && stage.isToBeRemembered) {
    moves.push(remembered(state, work, { ...stage, isToBeRemembered: false }, world));
  }
  if (acknowledges === 'when sent' && work.isHeld) moves.push(acknowledged(state, work, { ...work, isHeld: false }));
  return moves;
}

/** Stored and confirmed in one move: only the replica sees the confirm, and it may take its time to act on it. */
function confirmed(state: State, work: Work, stage: Publishing, sent: Sent): Move {
  const label = `the broker confirms ${describe(sent.what)} to ${replicaName(work.replica)}`;
  return { label, to: stored(state, work, stage, sent, 'confirmed'), isQuiet: sent.what.kind === 'record' };
}

/** The publication is in its queue; the replica knows as much of it as `fate` says. */
export function stored(state: State, work: Work, stage: Publishing, sent: Sent, fate: Fate): State {
  const { what } = sent;
  const change =
    what.kind === 'copy'
      ? { waiting: [...state.waiting, what.copy] }
      : { records: [...new Set([...state.records, ...tellsOf(what.record)])] };
  return replaced(state, work, { ...work, stage: withFate(stage, sent, fate) }, change);
}

/** Of a record, what laws rest on: that there is one of the attempt, and whether it is an end, and a rejection. */
function tellsOf(written: string): string[] {
  const [delivery, attempt, kind] = written.split(' ');
  if (kind === 'failed') return [`${delivery} ${attempt}`];
  return [`${delivery} ${attempt}`, `${delivery} ${kind === 'rejected' ? 'rejected' : 'ended'}`];
}

export function describe(what: Publication): string {
  if (what.kind === 'record') return `the record "${what.record}"`;
  const { door } = what.copy;
  return `${nameOf(what.copy)} ${door === 'queue' ? 'as a retry' : `to the ${door}`}`;
}
