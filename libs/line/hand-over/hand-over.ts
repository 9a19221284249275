/**
 * The hand-over: every message of the line goes through it, and no other code decides when one is acknowledged. A message leaves
 * its queue only when all its effects are safe: confirmed by another queue, or committed in a room.
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
 * slow: a member that runs for long is stored as a row, which becomes its source, so that its batch can be acknowledged without it
 * (`storeSlowMembers`). Beside the arrows, a thrown error or effects in parts settle a member at once, and a row that another process
 * has by now closes it.
 *
 * Each failure has one answer. A message that breaks the contract goes to the rejected queue. The step waits for a dependency
 * that is away. Any other error is a bug or a poisonous message: the message goes to the suspects lane, and its neighbours pass
 * (`suspicion.ts`).
 */
import { isDeliveryBatch, rejectBatch } from '../delivery-batch.ts';
import { type Fate, isRejection } from '../messages.ts';
import {
  close,
  fail,
  finish,
  giveBack,
  leave,
  putAside,
  rejectIt,
  send,
  sendAlone,
  sendInParts,
  settleAll,
  tried,
} from './ends.ts';
import * as sendings from './sendings.ts';
import {
  addMember,
  type Arrived,
  type Effect,
  type Input,
  mayGoOut,
  type Member,
  membersOf,
  newSource,
  newTransition,
  type State,
  type StepRules,
  type Transition,
} from './state.ts';
import { CRASHES_UNOPENED, intakeOf, KILLED } from './suspicion.ts';

/** Applies an input to the state and returns the effects to run. Changes nothing else. */
export function step<M>(state: State<M>, input: Input, rules: StepRules<M>): Effect<M>[] {
  const transition = newTransition(state, rules);
  apply(transition, input);
  // Settling one may send the next part of its effects; sending may settle.
  while (transition.leaving.length + transition.settled.length > 0) {
    sendings.joinLeaving(transition);
    settleAll(transition);
  }
  addEffects(transition);
  return transition.effects;
}

function apply<M>(transition: Transition<M>, input: Input): void {
  switch (input.kind) {
    case 'came':
      for (const source of input.sources) came(transition, source);
      return;
    case 'cut':
      return loseSource(transition, input.source);
    case 'recalled':
      return recalled(transition, input);
    case 'ended':
      return input.members.forEach((id, place) => ended(transition, id, input.fates[place]));
    case 'threw':
      return threw(transition, input);
    case 'remembered':
      return finish(transition, membersOf(transition, input.members));
    case 'confirmed':
      for (const sending of input.sendings) sendings.confirmed(transition, sending);
      return;
    case 'unconfirmed':
      return sendings.unconfirmed(transition, input.sending);
    case 'stalled':
      return sendings.stalled(transition, input.sending);
    case 'refused':
      return sendings.refused(transition, input.sending, input.error);
    case 'flush due':
      return sendings.flush(transition);
    case 'slow':
      return storeSlowMembers(transition, input.sources);
    case 'stored':
      return adoptStored(transition, input);
    default:
      return changed(transition, input);
  }
}

/** Adds one effect for all members that were gathered for it. */
function addEffects<M>(transition: Transition<M>): void {
  const { effects, toRunAlone, toAcknowledge } = transition;
  // May free twins, and close sources.
  const toRun = mayRun(transition, transition.toRun);
  for (const batch of toRunAlone) effects.push(runOf(batch, true));
  if (toRun.length > 0) effects.push(runOf(toRun, false));
  if (toAcknowledge.length > 0) effects.push({ kind: 'acknowledge', sources: toAcknowledge });
}

function runOf<M>(batch: readonly Member<M>[], isAlone: boolean): Effect<M> {
  // A running member was parsed.
  return { kind: 'run', members: batch.map(({ id }) => id), messages: batch.map(({ parsed }) => parsed as M), isAlone };
}

function came<M>(transition: Transition<M>, { id, lane, messages }: Arrived): void {
  const { state, effects } = transition;
  // The broker sent it before it learned that the step takes no more.
  if (state.isClosing) return void effects.push({ kind: 'give back', source: id, afterMs: 0 });
  newSource(state, id, messages.length);
  for (const message of messages) {
    const member = addMember(transition, id, lane, message);
    if (isToHandle(transition, member, messages.length) && isFirst(transition, member)) transition.toRun.push(member);
  }
}

/** Whether it is to be handled; else it is sent away. */
function isToHandle<M>(transition: Transition<M>, member: Member<M>, size: number): boolean {
  const { lane, message } = member;
  // A batch that could not be opened.
  const isUnopened = message.isSealed !== true && isDeliveryBatch(message);
  const intake = isUnopened ? 'reject' : intakeOf(lane, message, size);
  switch (intake) {
    case 'handle':
      return true;
    case 'send alone':
      sendAlone(transition, member);
      return false;
    case 'put aside':
      putAside(transition, member, message.failures);
      return false;
    case 'reject':
      rejectIt(
        transition,
        member,
        isUnopened && (message.crashes ?? 0) < CRASHES_UNOPENED ? rejectBatch(message) : KILLED,
      );
      return false;
  }
}

/** Parses it. Returns whether it can be read, and is the first with its key: its twins run after it has left. */
function isFirst<M>(transition: Transition<M>, member: Member<M>): boolean {
  const { state, rules } = transition;
  const parsed = tried(transition, member, () => {
    const read = rules.parse(member.message);
    if (rules.once !== undefined && !isRejection(read)) member.mark = rules.once.keyOf(read);
    return read;
  });
  if (parsed === undefined) return false;
  if (isRejection(parsed)) {
    rejectIt(transition, member, parsed);
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

/** Ends repeats; some members may have been given back meanwhile. */
function recalled<M>(transition: Transition<M>, { members, known }: Input & { kind: 'recalled' }): void {
  members.forEach((id, place) => {
    const member = transition.state.members.get(id);
    const mark = known[place];
    if (mark !== undefined && member?.isRunning) repeat(transition, member, mark);
  });
}

function repeat<M>(transition: Transition<M>, member: Member<M>, known: string): void {
  const { once } = transition.rules;
  member.isRunning = false;
  member.isRepeat = true;
  const isSame = known === member.mark?.fingerprint;
  // Only a policy gives keys, and only to parsed messages.
  const caused = tried(transition, member, () => once?.onRepeat(member.parsed as M, isSame));
  if (caused !== undefined) send(transition, member, caused);
}

/** Applies a fate to the member that it names, even if other members have left since. */
function ended<M>(transition: Transition<M>, id: number, fate: Fate | undefined): void {
  const member = transition.state.members.get(id);
  if (fate === undefined) return;
  if (member === undefined || !member.isRunning) return endIgnored(fate);
  member.isRunning = false;
  switch (fate.kind) {
    case 'done':
      return 'next' in fate.caused
        ? sendInParts(transition, member, fate.caused)
        : send(transition, member, fate.caused);
    case 'reject':
      return send(transition, member, fate);
    case 'away':
      return dependencyAway(transition, [member]);
    case 'failed':
      return fail(transition, member, fate.error);
  }
}

/** Ends the parts of a fate that is ignored: its member was given back, or has ended before. */
function endIgnored(fate: Fate): void {
  if (fate.kind === 'done' && 'next' in fate.caused) fate.caused.end();
}

/** Halves a batch that throws until the one that throws is alone. */
function threw<M>(transition: Transition<M>, { members: ids, why }: Input & { kind: 'threw' }): void {
  // Others were given back meanwhile, or are repeats; one of those may be why it threw.
  const members = membersOf(transition, ids).filter(({ isRunning }) => isRunning);
  for (const member of members) member.isRunning = false;
  const [first] = members;
  if (first === undefined) return;
  if (why.kind === 'away') return dependencyAway(transition, members);
  if (ids.length === 1) return fail(transition, first, why.error);
  const half = Math.ceil(members.length / 2);
  for (const some of [members.slice(0, half), members.slice(half)]) beginAlone(transition, some);
}

function dependencyAway<M>(transition: Transition<M>, members: readonly Member<M>[]): void {
  if (transition.state.outage === 'none') transition.state.outage = 'short';
  transition.toRun.push(...members);
}

function beginAlone<M>(transition: Transition<M>, members: readonly Member<M>[]): void {
  const batch = mayRun(transition, members);
  if (batch.length > 0) transition.toRunAlone.push(batch);
}

/** Returns those that run now: none while a dependency is away, as work must not be done if its effects cannot be published. */
function mayRun<M>(transition: Transition<M>, members: readonly Member<M>[]): Member<M>[] {
  const { state, effects } = transition;
  const batch: Member<M>[] = [];
  // The list may grow during the loop, by twins of those that are closed.
  for (const member of members) {
    if (!mayGoOut(transition, member, 'work')) close(transition, member);
    else if (state.isClosing || state.outage === 'long') giveBack(transition, member);
    else {
      if (!mayBegin(transition) && state.outage === 'none') {
        state.outage = 'short';
        effects.push({ kind: 'wait for broker' });
      }
      member.isRunning = state.outage === 'none';
      if (member.isRunning) batch.push(member);
      else state.deferred.add(member.id);
    }
  }
  return batch;
}

/** True while the effects of a message can be published, or wait in a room. */
export function mayBegin<M>({ state, rules }: Pick<Transition<M>, 'state' | 'rules'>): boolean {
  return state.broker === 'writable' || (rules.drainsWhileBlocked === true && state.broker === 'blocked');
}

/** Marks the source as taken back. Handlers at work go on, but their messages cannot be acknowledged. */
function loseSource<M>(transition: Transition<M>, id: number): void {
  const source = transition.state.sources.get(id);
  if (source === undefined) return;
  source.isInHand = false;
  for (const member of membersOf(transition, transition.state.deferred))
    if (member.source === id) close(transition, member);
}

/**
 * Moves a running member out of its slow batch, so that its neighbours can be acknowledged. Skips redelivered ones: another store
 * may be searched for those, and finding one there means that another process has it.
 */
function storeSlowMembers<M>({ state, effects }: Transition<M>, sources: ReadonlySet<number>): void {
  for (const member of state.members.values()) {
    if (!member.isRunning || member.isStoreRequested || !sources.has(member.source)) continue;
    if (member.message.deliveryCount > 0) continue;
    member.isStoreRequested = true;
    // A running member was parsed.
    effects.push({ kind: 'store', member: member.id, message: member.message, parsed: member.parsed as M });
  }
}

/** Makes the stored copy the source of the member; from now on the copy is acknowledged. */
function adoptStored<M>(transition: Transition<M>, { member: id, source }: Input & { kind: 'stored' }): void {
  const { state, effects } = transition;
  const member = state.members.get(id);
  if (source === undefined) return void (member && (member.isStoreRequested = false));
  // It has left meanwhile, or is about to, perhaps unfinished: the copy may then be all that is left of it, or the row in which it waits.
  if (member === undefined || member.isAbandoned || isToWait(member))
    return void effects.push({ kind: 'give back', source, afterMs: 0 });
  const batch = state.sources.get(member.source);
  newSource(state, source, 1);
  member.source = source;
  if (batch !== undefined) leave(transition, batch);
}

/** Its puts may have become one row, which must not be deleted then. */
function isToWait<M>({ caused }: Member<M>): boolean {
  return caused.some(({ kind }) => kind === 'wait');
}

type Change = Input & { kind: 'broker' | 'back' | 'outlasted' | 'closing' };

function changed<M>(transition: Transition<M>, change: Change): void {
  const { state } = transition;
  switch (change.kind) {
    case 'broker':
      state.broker = change.is;
      return sendings.putAll(transition);
    case 'back':
      state.outage = 'none';
      break;
    case 'outlasted':
      state.outage = 'long';
      break;
    case 'closing':
      state.isClosing = true;
      sendings.putAll(transition);
  }
  transition.toRun.push(...membersOf(transition, state.deferred));
  state.deferred.clear();
}
