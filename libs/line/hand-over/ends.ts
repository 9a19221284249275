/** How a message leaves the step: acknowledged, given back, or forgotten because another process has it. */
import { type InParts, isRejection, type Outgoing, type Rejection } from '../messages.ts';
import { publishAlone, publishSuspect, failuresAfter, rejectionFor } from './suspicion.ts';
import { sendAll, sendOne, toSettle } from './sendings.ts';
import {
  type Failure,
  type Member,
  type Report,
  type SourceInHand,
  addMember,
  mayGoOut,
  type Transition,
} from './state.ts';
import type { Mark } from '../once.ts';

const SUSPECT_PAUSE_MS = 20;
const STUCK_PAUSE_MS = 1_000;

/** Continues with the members none of whose effects are under way any more: those that are done are remembered together. */
export function settleAll<M>(transition: Transition<M>): void {
  const finished: Member<M>[] = [];
  const toRemember: { members: number[]; marks: Mark[] } = { members: [], marks: [] };
  // The list grows during the loop: a settled member may settle others.
  for (const member of transition.settled) {
    member.isSettling = false;
    if (member.underWay > 0 || !isDone(transition, member)) continue;
    const { mark } = member;
    if (member.purpose !== 'handle' || !member.isWorthRemembering || mark === undefined) finished.push(member);
    else {
      toRemember.members.push(member.id);
      toRemember.marks.push(mark);
    }
  }
  transition.settled = [];
  finish(transition, finished);
  if (toRemember.members.length > 0) transition.effects.push({ kind: 'remember', ...toRemember });
}

/** Whether all that it causes is safe. If not, it goes on, or leaves. */
function isDone<M>(transition: Transition<M>, member: Member<M>): boolean {
  const { failure, purpose } = member;
  const parts = purpose === 'handle' ? member.parts : undefined;
  const isLeft = failure !== undefined || parts !== undefined;
  if (member.isAbandoned || (isLeft && !mayGoOut(transition, member, 'work'))) close(transition, member);
  else if (failure !== undefined) failed(transition, member, failure);
  else if (parts !== undefined) return sendNextPart(transition, member, parts);
  else return true;
  return false;
}

export function send<M>(transition: Transition<M>, member: Member<M>, caused: readonly Outgoing[] | Rejection): void {
  if (!mayGoOut(transition, member, 'result')) return close(transition, member);
  if (isRejection(caused)) return rejectIt(transition, member, caused);
  const { once } = transition.rules;
  member.caused = caused;
  tried(transition, member, () => {
    member.isWorthRemembering ||= !member.isRepeat && once?.isWorthRemembering(caused) === true;
    sendAll(transition, member, caused);
  });
}

export function sendInParts<M>(transition: Transition<M>, member: Member<M>, parts: InParts): void {
  member.parts = parts;
  toSettle(transition, member);
}

/**
 * Sends the next part once the previous ones are safe. Another process that gets the message sends all parts again; consumers
 * recognise those. Returns whether none is left.
 */
function sendNextPart<M>(transition: Transition<M>, member: Member<M>, parts: InParts): boolean {
  if (transition.state.isClosing) giveBack(transition, member);
  else {
    const caused = tried(transition, member, () => parts.next() ?? NOTHING_LEFT);
    if (caused === NOTHING_LEFT) {
      endParts(member);
      return true;
    }
    if (caused !== undefined) send(transition, member, caused);
  }
  return false;
}

const NOTHING_LEFT: readonly Outgoing[] = [];

function endParts<M>(member: Member<M>): void {
  const { parts } = member;
  delete member.parts;
  parts?.end();
}

/** Reports and closes members whose effects are safe and remembered. */
export function finish<M>(transition: Transition<M>, members: readonly Member<M>[]): void {
  const handled = members.filter(({ purpose }) => purpose === 'handle');
  if (handled.length > 0) report(transition, { kind: 'handled', members: handled });
  for (const member of members) {
    if (member.purpose !== 'handle') report(transition, reportOf(member));
    close(transition, member);
  }
}

function failed<M>(transition: Transition<M>, member: Member<M>, { error }: Failure): void {
  const { message, lane } = member;
  delete member.failure;
  if (member.purpose !== 'handle') {
    // Given back again and again, slowly, until an operator fixes the topology.
    report(transition, { kind: 'stuck', message, error });
    return close(transition, member, STUCK_PAUSE_MS);
  }
  report(transition, { kind: 'failed', message, error });
  const failures = transition.rules.hasLane ? failuresAfter(lane, message.failures, error) : undefined;
  if (failures === undefined) rejectIt(transition, member, rejectionFor(error));
  else putAside(transition, member, failures, lane === 'suspects' ? SUSPECT_PAUSE_MS : 0);
}

export function rejectIt<M>(transition: Transition<M>, member: Member<M>, rejection: Rejection): void {
  member.purpose = 'reject';
  member.caused = [];
  member.rejection = rejection;
  tried(transition, member, () => sendAll(transition, member, [rejection]));
}

export function putAside<M>(transition: Transition<M>, member: Member<M>, failures: number, afterMs = 0): void {
  member.purpose = 'put aside';
  sendOne(transition, member, publishSuspect(member.message, transition.rules.name, failures), afterMs);
}

export function giveBack<M>(transition: Transition<M>, member: Member<M>): void {
  report(transition, { kind: 'given back' });
  // A suspect that is given back would soon look like one that kills its process: it goes to the end of the lane instead.
  if (member.lane === 'suspects' && transition.state.broker === 'writable')
    putAside(transition, member, member.message.failures);
  else close(transition, member, 0);
}

/** Sends a member back to its queue, outside of its batch. */
export function sendAlone<M>(transition: Transition<M>, member: Member<M>, afterMs = 0): void {
  member.purpose = 'send alone';
  sendOne(transition, member, publishAlone(member.message), afterMs);
}

/** Closes a member, and with the last one its source. `backAfterMs`: returns the member to its queue after this delay. */
export function close<M>(transition: Transition<M>, member: Member<M>, backAfterMs?: number): void {
  const { state } = transition;
  state.members.delete(member.id);
  state.deferred.delete(member.id);
  endParts(member);
  handOnKey(transition, member);
  const source = state.sources.get(member.source);
  if (source === undefined) return;
  if (backAfterMs !== undefined) {
    source.back.push(member.message);
    source.backAfterMs = Math.max(backAfterMs, source.backAfterMs);
  }
  leave(transition, source);
}

/** Closes the source when its last member has left. */
export function leave<M>(transition: Transition<M>, source: SourceInHand): void {
  const { id, back, backAfterMs: afterMs, size } = source;
  source.open -= 1;
  if (source.open > 0) return;
  source.isPartlyDone ||= back.length < size;
  if (source.isInHand && back.length > 0 && source.isPartlyDone) return sendRestAlone(transition, source);
  transition.state.sources.delete(id);
  if (!source.isInHand) transition.effects.push({ kind: 'forget', source: id });
  else if (back.length === 0) transition.toAcknowledge.push(id);
  else transition.effects.push({ kind: 'give back', source: id, afterMs });
}

/** Sends the remaining members alone: giving the source back would also repeat the finished ones. */
function sendRestAlone<M>(transition: Transition<M>, source: SourceInHand): void {
  const { back, backAfterMs } = source;
  Object.assign(source, { size: back.length, open: back.length, back: [], backAfterMs: 0 });
  for (const message of back) sendAlone(transition, addMember(transition, source.id, 'queue', message), backAfterMs);
}

function handOnKey<M>({ state, toRun }: Transition<M>, { id, mark, twin }: Member<M>): void {
  if (mark === undefined) return;
  const next = state.members.get(twin ?? 0);
  if (next !== undefined) toRun.push(next);
  else if (state.keys.get(mark.key) === id) state.keys.delete(mark.key);
}

/** Runs the work. Returns undefined if it throws, and fails the member. */
export function tried<M, T>(transition: Transition<M>, member: Member<M>, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    fail(transition, member, error);
    return undefined;
  }
}

export function fail<M>(transition: Transition<M>, member: Member<M>, error: unknown): void {
  member.failure ??= { error };
  if (member.underWay === 0) toSettle(transition, member);
}

function reportOf<M>(member: Member<M>): Report<M> {
  const { purpose, message, rejection } = member;
  if (purpose === 'send alone') return { kind: 'given back' };
  if (purpose === 'reject' && rejection !== undefined) return { kind: 'rejected', message, rejection };
  return { kind: 'put aside', message };
}

function report<M>({ effects }: Transition<M>, what: Report<M>): void {
  effects.push({ kind: 'report', report: what });
}
