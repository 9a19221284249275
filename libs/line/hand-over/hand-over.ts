/**
 * The hand-over: every message of the line goes through it, and no other code decides when one is acknowledged.
 *
 *   came ─▶ parse ─▶ recall ─▶ run ─▶ publish its effects, confirmed ─▶ remember ─▶ acknowledge
 *
 * A message leaves its queue only when all its effects are safe elsewhere. The hand-over does no I/O: it takes inputs and returns
 * effects. `run-step.ts` runs these on real servers, tests in memory.
 *
 * Each failure has one answer. A message that breaks the contract goes to the rejected queue. The step waits for a dependency
 * that is away. Any other error is a bug or a poisonous message: the message goes to the suspects lane, and its neighbours pass.
 * A suspect that was in hand when its process died is handled once more alone, so that no message is blamed for another.
 */
import { isDeliveryBatch, rejectBatch, UNOPENED } from '../delivery-batch.ts';
import { isRejection, reject } from '../messages.ts';
import { publishQuarantined } from './aside.ts';
import {
  send,
  sendInParts,
  close,
  fail,
  finish,
  giveBack,
  leave,
  putAside,
  rejectIt,
  sendAlone,
  settle,
  tried,
} from './ends.ts';
import * as sendings from './sendings.ts';
import { addMember, isHeld, newSource } from './state.ts';
import type { Effect, Input, Member, StepRules, HeldSource, State, Turn } from './state.ts';
import { intakeOf } from './suspicion.ts';

const KILLED = reject('process_killed', 'the process that handled it died, each time');

/** Applies an input to the state and returns the effects to run. Changes nothing else. */
export function step<M>(state: State<M>, input: Input, rules: StepRules<M>): Effect<M>[] {
  const turn: Turn<M> = { state, rules, effects: [], settled: [] };
  apply(turn, input);
  // The list grows during the loop: a settled member may release one that waits for it.
  for (const member of turn.settled) settle(turn, member);
  return turn.effects;
}

function apply<M>(turn: Turn<M>, input: Input): void {
  switch (input.kind) {
    case 'came':
      return came(turn, input);
    case 'cut':
      return loseSource(turn, input.source);
    case 'confirmed':
      return sendings.confirmed(turn, input.sending);
    case 'unconfirmed':
      return sendings.unconfirmed(turn, input.sending);
    case 'stalled':
      return sendings.stalled(turn, input.sending);
    case 'refused':
      return sendings.refused(turn, input.sending, input.error);
    case 'flush due':
      return sendings.flush(turn);
    case 'slow':
      return leaseSlowMembers(turn, input.sources);
    case 'leased':
      return adoptLease(turn, input);
    case 'broker':
    case 'back':
    case 'outlasted':
    case 'closing':
      return changed(turn, input);
    case 'recalled':
    case 'returned':
    case 'threw':
    case 'dependency away':
    case 'remembered': {
      const member = turn.state.members.get(input.member);
      return member && advance(turn, member, input);
    }
  }
}

function came<M>(turn: Turn<M>, { source: id, lane, messages }: Input & { kind: 'came' }): void {
  const { state, effects } = turn;
  // The broker sent it before it learned that the step takes no more.
  if (state.isClosing) return void effects.push({ kind: 'give back', source: id, afterMs: 0 });
  const source = newSource(state, id, messages.length);
  for (const message of messages) meet(turn, addMember(turn, id, lane, message), source);
}

function meet<M>(turn: Turn<M>, member: Member<M>, { size }: HeldSource): void {
  const { lane, message } = member;
  const { deaths = 0 } = message;
  // Still a batch: it could not be opened.
  if (isDeliveryBatch(message)) return rejectIt(turn, member, deaths >= UNOPENED ? KILLED : rejectBatch(message));
  switch (intakeOf(lane, deaths, size)) {
    case 'handle':
      return recognise(turn, member);
    case 'send alone':
      return sendAlone(turn, member);
    case 'put aside':
      return putAside(turn, member, 0);
    case 'quarantine':
      member.purpose = 'quarantine';
      return sendings.sendOne(turn, member, publishQuarantined(message, turn.rules.name));
    case 'reject':
      return rejectIt(turn, member, KILLED);
  }
}

/** Recalls only the first member with a key; its twins wait until it is remembered. */
function recognise<M>(turn: Turn<M>, member: Member<M>): void {
  const { state, rules } = turn;
  const parsed = tried(turn, member, () => {
    const read = rules.parse(member.message);
    if (rules.once !== undefined && !isRejection(read)) member.mark = rules.once.keyOf(read);
    return read;
  });
  if (parsed === undefined) return;
  if (isRejection(parsed)) return rejectIt(turn, member, parsed);
  member.parsed = parsed;
  if (member.mark === undefined) return begin(turn, member);
  const { key } = member.mark;
  const last = state.members.get(state.keys.get(key) ?? 0);
  state.keys.set(key, member.id);
  if (last === undefined) turn.effects.push({ kind: 'recall', member: member.id, key });
  else last.twin = member.id;
}

type MemberInput = Input & { kind: 'recalled' | 'returned' | 'threw' | 'dependency away' | 'remembered' };

function advance<M>(turn: Turn<M>, member: Member<M>, input: MemberInput): void {
  member.isRunning = false;
  switch (input.kind) {
    case 'recalled':
      return isRepeat(turn, member, input.known) ? repeat(turn, member, input.known) : begin(turn, member);
    case 'returned':
      return 'next' in input.caused ? sendInParts(turn, member, input.caused) : send(turn, member, input.caused);
    case 'threw':
      return fail(turn, member, input.error);
    case 'dependency away':
      if (turn.state.outage === 'none') turn.state.outage = 'short';
      return begin(turn, member);
    case 'remembered':
      return finish(turn, member);
  }
}

/** Runs the handler, unless a dependency is away: work must not be done if its effects cannot be published. */
function begin<M>(turn: Turn<M>, member: Member<M>): void {
  const { state, effects } = turn;
  if (!isHeld(turn, member)) return close(turn, member);
  if (state.isClosing || state.outage === 'long') return giveBack(turn, member);
  if (!mayBegin(turn) && state.outage === 'none') {
    state.outage = 'short';
    effects.push({ kind: 'wait for broker' });
  }
  if (state.outage === 'short') return void state.waiting.add(member.id);
  member.isRunning = true;
  // A recalled message has been parsed.
  effects.push({ kind: 'run', member: member.id, message: member.parsed as M });
}

/** True while the effects of a message can be published or kept. */
export function mayBegin<M>({ state, rules }: Pick<Turn<M>, 'state' | 'rules'>): boolean {
  return state.broker === 'writable' || (rules.drainsWhileBlocked === true && state.broker === 'blocked');
}

function isRepeat<M>({ rules }: Turn<M>, { parsed }: Member<M>, known: string | undefined): known is string {
  // Only parsed messages are recalled.
  return known !== undefined && (rules.once?.isRepeat?.(parsed as M, known) ?? true);
}

function repeat<M>(turn: Turn<M>, member: Member<M>, known: string): void {
  const { once } = turn.rules;
  member.isRepeat = true;
  const isSame = known === member.mark?.fingerprint;
  // Only a policy gives keys, and only to parsed messages.
  const caused = tried(turn, member, () => once?.onRepeat(member.parsed as M, isSame));
  if (caused !== undefined) send(turn, member, caused);
}

/** Marks the source as taken back. Handlers at work go on, but their messages cannot be acknowledged. */
function loseSource<M>(turn: Turn<M>, id: number): void {
  const source = turn.state.sources.get(id);
  if (source === undefined) return;
  source.isHeld = false;
  for (const member of membersOf(turn, turn.state.waiting)) if (member.source === id) close(turn, member);
}

/**
 * Moves a running member out of its slow bundle, so that its neighbours can be acknowledged. Skips redelivered ones, whose copy
 * elsewhere would be taken for another's.
 */
function leaseSlowMembers<M>({ state, effects }: Turn<M>, sources: ReadonlySet<number>): void {
  for (const member of state.members.values()) {
    if (!member.isRunning || member.isLeaseAsked || !sources.has(member.source)) continue;
    if (member.message.deliveryCount > 0) continue;
    member.isLeaseAsked = true;
    effects.push({ kind: 'lease', member: member.id, message: member.message });
  }
}

/** Makes the lease the source of the member; from now on the lease is acknowledged. */
function adoptLease<M>(turn: Turn<M>, { member: id, source }: Input & { kind: 'leased' }): void {
  const { state, effects } = turn;
  const member = state.members.get(id);
  if (source === undefined) return void (member && (member.isLeaseAsked = false));
  // It has left meanwhile, perhaps unfinished: the lease may then be all that is left of it.
  if (member === undefined) return void effects.push({ kind: 'give back', source, afterMs: 0 });
  const bundle = state.sources.get(member.source);
  newSource(state, source, 1);
  member.source = source;
  if (bundle !== undefined) leave(turn, bundle);
}

type Change = Input & { kind: 'broker' | 'back' | 'outlasted' | 'closing' };

function changed<M>(turn: Turn<M>, change: Change): void {
  const { state } = turn;
  switch (change.kind) {
    case 'broker':
      state.broker = change.is;
      return sendings.keepAll(turn);
    case 'back':
      state.outage = 'none';
      break;
    case 'outlasted':
      state.outage = 'long';
      break;
    case 'closing':
      state.isClosing = true;
      sendings.keepAll(turn);
  }
  const waiting = membersOf(turn, state.waiting);
  state.waiting.clear();
  for (const member of waiting) begin(turn, member);
}

function membersOf<M>({ state }: Turn<M>, ids: Iterable<number>): Member<M>[] {
  return [...ids].flatMap((id) => state.members.get(id) ?? []);
}
