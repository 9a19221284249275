/**
 * The hand-over: every message of the line goes through it, and no other code decides when one is acknowledged. A message leaves
 * its queue only when all its effects are safe elsewhere.
 *
 * It does no I/O. `step` applies an input to the state and returns effects (`state.ts` has all three); `effect-runner.ts` runs
 * these on real servers, tests in memory. What came together goes on together: one run, one message for a queue, one
 * acknowledgement for a batch. A message leaves its batch where its fate differs from the others'.
 *
 * A member is one message. At the arrows stand the inputs that move it:
 *
 *   came                                      ┌─── threw: again, with half of its batch
 *    │                                        ▼  │
 *    ├─ parsed ──────────────────────────▶ RUNNING ───── ended or threw: a dependency is away ────▶ DEFERRED
 *    ├─ another has its key ─▶ TWIN ──────────▲  │ ▲                                                │    │
 *    │              when the other is closed ─┘  │ └───────────────────── back ─────────────────────┘    │
 *    │                                           │ ended: its effects; recalled: those of a repeat       │ outlasted,
 *    │                                           ▼                                                       │ closing
 *    └─ unreadable, or crashed a process ──▶ SENDING ◀─┐ the next part of its effects; after a failure,  │
 *                                                │     │ itself to the suspects lane or rejected queue   │
 *          confirmed (unconfirmed, stalled,      ▼     │                                                 │
 *          refused: again, or into a room)    SETTLED ─┘                                                 │
 *                                                │ remembered, if the step recognises repeats            │
 *                                                ▼                                                       │
 *                                             CLOSED ◀──────────────── to be given back ─────────────────┘
 *
 * A source is what is acknowledged: an AMQP message with its members, or a row. When its last member is closed:
 *
 *   came ─▶ IN HAND ─┬─ all are done ──────────▶ acknowledged
 *             │      ├─ all are to go back ────▶ given back
 *             │      └─ some are to go back ───▶ IN HAND while these are sent to their queue alone
 *             └─ cut ─▶ another process has it: its members may finish, and it is forgotten
 *
 * Each failure has one answer. A message that breaks the contract goes to the rejected queue. The step waits for a dependency
 * that is away. Any other error is a bug or a poisonous message: the message goes to the suspects lane, and its neighbours pass
 * (`suspicion.ts`).
 */
import { Unavailable } from '@waybell/runtime/unavailable';
import { isDeliveryBatch, rejectBatch } from '../delivery-batch.ts';
import { type Fate, isRejection } from '../messages.ts';
import { close, fail, finish, giveBack, leave, putAside, rejectIt, send, sendAlone, sendInParts, settleAll, tried } from './ends.ts';
import { flush, joinLeaving } from './sendings.ts';
import * as sendings from './sendings.ts';
import { addMember, type Arrived, type Effect, type Input, isInHand, type Member, membersOf, newSource, newTurn, type State, type StepRules, type Turn } from './state.ts';
import { CRASHES_UNOPENED, intakeOf, KILLED } from './suspicion.ts';

/** Applies an input to the state and returns the effects to run. Changes nothing else. */
export function step<M>(state: State<M>, input: Input, rules: StepRules<M>): Effect<M>[] {
  const turn = newTurn(state, rules);
  apply(turn, input);
  // Settling one may send the next part of its effects; sending may settle.
  while (turn.leaving.length + turn.settled.length > 0) {
    joinLeaving(turn);
    settleAll(turn);
  }
  tell(turn);
  return turn.effects;
}

function apply<M>(turn: Turn<M>, input: Input): void {
  switch (input.kind) {
    case 'came':
      for (const source of input.sources) came(turn, source);
      return;
    case 'cut':
      return loseSource(turn, input.source);
    case 'recalled':
      return recalled(turn, input);
    case 'ended':
      return input.members.forEach((id, place) => ended(turn, id, input.fates[place]));
    case 'threw':
      return threw(turn, input);
    case 'remembered':
      return finish(turn, membersOf(turn, input.members));
    case 'confirmed':
      for (const sending of input.sendings) sendings.confirmed(turn, sending);
      return;
    case 'unconfirmed':
      return sendings.unconfirmed(turn, input.sending);
    case 'stalled':
      return sendings.stalled(turn, input.sending);
    case 'refused':
      return sendings.refused(turn, input.sending, input.error);
    case 'flush due':
      return flush(turn);
    case 'slow':
      return leaseSlowMembers(turn, input.sources);
    case 'leased':
      return adoptLease(turn, input);
    default:
      return changed(turn, input);
  }
}

/** Adds one effect for all members that were gathered for it. */
function tell<M>(turn: Turn<M>): void {
  const { effects, toRunAlone, toAcknowledge } = turn;
  // May free twins, and close sources.
  const toRun = mayRun(turn, turn.toRun);
  for (const batch of toRunAlone) effects.push(runOf(batch, true));
  if (toRun.length > 0) effects.push(runOf(toRun, false));
  if (toAcknowledge.length > 0) effects.push({ kind: 'acknowledge', sources: toAcknowledge });
}

function runOf<M>(batch: readonly Member<M>[], isAlone: boolean): Effect<M> {
  // A running member was parsed.
  return { kind: 'run', members: batch.map(({ id }) => id), messages: batch.map(({ parsed }) => parsed as M), isAlone };
}

function came<M>(turn: Turn<M>, { id, lane, messages }: Arrived): void {
  const { state, effects } = turn;
  // The broker sent it before it learned that the step takes no more.
  if (state.isClosing) return void effects.push({ kind: 'give back', source: id, afterMs: 0 });
  newSource(state, id, messages.length);
  for (const message of messages) {
    const member = addMember(turn, id, lane, message);
    if (isToHandle(turn, member, messages.length) && isFirst(turn, member)) turn.toRun.push(member);
  }
}

/** Whether it is to be handled; else it goes elsewhere. */
function isToHandle<M>(turn: Turn<M>, member: Member<M>, size: number): boolean {
  const { lane, message } = member;
  // Still a batch: it could not be opened.
  const intake = isDeliveryBatch(message) ? 'reject' : intakeOf(lane, message, size);
  switch (intake) {
    case 'handle':
      return true;
    case 'send alone':
      sendAlone(turn, member);
      return false;
    case 'put aside':
      putAside(turn, member, message.failures);
      return false;
    case 'reject':
      rejectIt(
        turn,
        member,
        isDeliveryBatch(message) && (message.crashes ?? 0) < CRASHES_UNOPENED ? rejectBatch(message) : KILLED,
      );
      return false;
  }
}

/** Whether it is parsed, and the first with its key; its twins wait until it has left. */
function isFirst<M>(turn: Turn<M>, member: Member<M>): boolean {
  const { state, rules } = turn;
  const parsed = tried(turn, member, () => {
    const read = rules.parse(member.message);
    if (rules.once !== undefined && !isRejection(read)) member.mark = rules.once.keyOf(read);
    return read;
  });
  if (parsed === undefined) return false;
  if (isRejection(parsed)) {
    rejectIt(turn, member, parsed);
    return false;
  }
  member.parsed = parsed;
  if (member.mark === undefined) return true;
  const { key } = member.mark;
  const last = state.members.get(state.keys.get(key) ?? 0);
  state.keys.set(key, member.id);
  if (last !== undefined) last.twin = member.id;
  return last === undefined;
}

/** Ends repeats; some may have been given back meanwhile. */
function recalled<M>(turn: Turn<M>, { members, known }: Input & { kind: 'recalled' }): void {
  members.forEach((id, place) => {
    const member = turn.state.members.get(id);
    const mark = known[place];
    if (mark !== undefined && member?.isRunning) repeat(turn, member, mark);
  });
}

function repeat<M>(turn: Turn<M>, member: Member<M>, known: string): void {
  const { once } = turn.rules;
  member.isRunning = false;
  member.isRepeat = true;
  const isSame = known === member.mark?.fingerprint;
  // Only a policy gives keys, and only to parsed messages.
  const caused = tried(turn, member, () => once?.onRepeat(member.parsed as M, isSame));
  if (caused !== undefined) send(turn, member, caused);
}

/** Applies a fate to the member that it names, even if other members have left since. */
function ended<M>(turn: Turn<M>, id: number, fate: Fate | undefined): void {
  const member = turn.state.members.get(id);
  if (fate === undefined) return;
  if (member === undefined || !member.isRunning) return endIgnored(fate);
  member.isRunning = false;
  if (isAnothersRow(turn, member)) {
    endIgnored(fate);
    return close(turn, member);
  }
  if (fate.kind === 'failed') return failed(turn, member, fate.error);
  const { caused } = fate;
  if ('next' in caused) sendInParts(turn, member, caused);
  else send(turn, member, caused);
}

/**
 * True if it waited in a room that another process has claimed: that process makes the attempt, so this member has no effects.
 */
function isAnothersRow<M>(turn: Turn<M>, member: Member<M>): boolean {
  return member.message.waited !== undefined && !isInHand(turn, member);
}

/** Ends the parts of a fate that is ignored: its member was given back, belongs to another process, or has ended before. */
function endIgnored(fate: Fate): void {
  if (fate.kind === 'done' && 'next' in fate.caused) fate.caused.end();
}

/** Halves a batch that throws until the one that throws is alone. */
function threw<M>(turn: Turn<M>, { members: ids, error }: Input & { kind: 'threw' }): void {
  // Others were given back meanwhile, or are repeats; one of those may be why it threw.
  const members = membersOf(turn, ids).filter(({ isRunning }) => isRunning);
  for (const member of members) member.isRunning = false;
  const [first] = members;
  if (first === undefined) return;
  if (error instanceof Unavailable) return dependencyAway(turn, members);
  if (ids.length === 1) return fail(turn, first, error);
  const half = Math.ceil(members.length / 2);
  for (const some of [members.slice(0, half), members.slice(half)]) beginAlone(turn, some);
}

function failed<M>(turn: Turn<M>, member: Member<M>, error: unknown): void {
  if (error instanceof Unavailable) dependencyAway(turn, [member]);
  else fail(turn, member, error);
}

function dependencyAway<M>(turn: Turn<M>, members: readonly Member<M>[]): void {
  if (turn.state.outage === 'none') turn.state.outage = 'short';
  turn.toRun.push(...members);
}

function beginAlone<M>(turn: Turn<M>, members: readonly Member<M>[]): void {
  const batch = mayRun(turn, members);
  if (batch.length > 0) turn.toRunAlone.push(batch);
}

/** Returns those that run now: none while a dependency is away, as work must not be done if its effects cannot be published. */
function mayRun<M>(turn: Turn<M>, members: readonly Member<M>[]): Member<M>[] {
  const { state, effects } = turn;
  const batch: Member<M>[] = [];
  // The list may grow during the loop, by twins of those that are closed.
  for (const member of members) {
    if (!isInHand(turn, member)) close(turn, member);
    else if (state.isClosing || state.outage === 'long') giveBack(turn, member);
    else {
      if (!mayBegin(turn) && state.outage === 'none') {
        state.outage = 'short';
        effects.push({ kind: 'wait for broker' });
      }
      member.isRunning = state.outage === 'none';
      if (member.isRunning) batch.push(member);
      else state.waiting.add(member.id);
    }
  }
  return batch;
}

/** True while the effects of a message can be published, or wait in a room. */
export function mayBegin<M>({ state, rules }: Pick<Turn<M>, 'state' | 'rules'>): boolean {
  return state.broker === 'writable' || (rules.drainsWhileBlocked === true && state.broker === 'blocked');
}

/** Marks the source as taken back. Handlers at work go on, but their messages cannot be acknowledged. */
function loseSource<M>(turn: Turn<M>, id: number): void {
  const source = turn.state.sources.get(id);
  if (source === undefined) return;
  source.isInHand = false;
  for (const member of membersOf(turn, turn.state.waiting)) if (member.source === id) close(turn, member);
}

/**
 * Moves a running member out of its slow batch, so that its neighbours can be acknowledged. Skips redelivered ones: another store
 * may be searched for those, and finding one there means that another process has it.
 */
function leaseSlowMembers<M>({ state, effects }: Turn<M>, sources: ReadonlySet<number>): void {
  for (const member of state.members.values()) {
    if (!member.isRunning || member.isLeaseAsked || !sources.has(member.source)) continue;
    if (member.message.deliveryCount > 0) continue;
    member.isLeaseAsked = true;
    // A running member was parsed.
    effects.push({ kind: 'lease', member: member.id, message: member.message, parsed: member.parsed as M });
  }
}

/** Makes the lease the source of the member; from now on the lease is acknowledged. */
function adoptLease<M>(turn: Turn<M>, { member: id, source }: Input & { kind: 'leased' }): void {
  const { state, effects } = turn;
  const member = state.members.get(id);
  if (source === undefined) return void (member && (member.isLeaseAsked = false));
  // It has left meanwhile, or is about to, perhaps unfinished: the lease may then be all that is left of it, or the row in which it waits.
  if (member === undefined || member.isAbandoned || isToWait(member))
    return void effects.push({ kind: 'give back', source, afterMs: 0 });
  const batch = state.sources.get(member.source);
  newSource(state, source, 1);
  member.source = source;
  if (batch !== undefined) leave(turn, batch);
}

/** Its puts may have become one row, which must not be settled then. */
function isToWait<M>({ caused }: Member<M>): boolean {
  return caused.some(({ kind }) => kind === 'wait');
}

type Change = Input & { kind: 'broker' | 'back' | 'outlasted' | 'closing' };

function changed<M>(turn: Turn<M>, change: Change): void {
  const { state } = turn;
  switch (change.kind) {
    case 'broker':
      state.broker = change.is;
      return sendings.putAll(turn);
    case 'back':
      state.outage = 'none';
      break;
    case 'outlasted':
      state.outage = 'long';
      break;
    case 'closing':
      state.isClosing = true;
      sendings.putAll(turn);
  }
  turn.toRun.push(...membersOf(turn, state.waiting));
  state.waiting.clear();
}
