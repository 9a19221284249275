/**
 * Sends the effects of messages until they are safe elsewhere: publications while one of their messages is held, records and ends
 * while the step runs. Retries do not repeat the handler's work, above all its HTTP request. Records are batched, and so are
 * ends.
 */
import { Unroutable } from '../publish-errors.ts';
import { isDeliveryBatch, readMembers } from '../delivery-batch.ts';
import { END_CHARACTERS, publishEnds } from '../delivery-ends.ts';
import type { DeliveryEnd, Outcome } from '../outcomes.ts';
import type { Outgoing, Parked, Publication, Rejection } from '../messages.ts';
import { charactersOf, publishOutcomes } from '../outcome-batch.ts';
import { publishRejected } from './aside.ts';
import { isHeld, type BufferedRecord, type Member, type Sending, type Share, type Turn } from './state.ts';

const LARGEST_BATCH = 100;
/** Records carry bodies, and a reader holds many batches at once. */
const LARGEST_BATCH_CHARACTERS = 2 ** 18;
const LONGEST_DETAIL = 1_000;
const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 1_000;

/** Sends all effects of a message. Settles the member when none is under way any more. */
export function sendAll<M>(turn: Turn<M>, member: Member<M>, caused: readonly Outgoing[]): void {
  // Counts the loop itself, so that the member is not settled before all are under way.
  member.underWay += 1;
  try {
    for (const outgoing of caused) sendAny(turn, member, outgoing);
  } finally {
    effectIsSafe(turn, member);
  }
}

function sendAny<M>(turn: Turn<M>, member: Member<M>, outgoing: Outgoing): void {
  if (outgoing.kind === 'outcome') bufferOutcome(turn, member, outgoing.outcome);
  else if (outgoing.kind === 'end') bufferEnd(turn, member, outgoing.end);
  else if (outgoing.kind === 'reject') sendRejection(turn, member, outgoing);
  else sendOne(turn, member, outgoing);
}

/** Sends the message itself to the rejected queue, and the effects that report its rejection. */
function sendRejection<M>(turn: Turn<M>, member: Member<M>, { detail, ...of }: Rejection): void {
  const { reportRejection, now } = turn.rules;
  const { message } = member;
  const rejection = { ...of, detail: storable(detail) };
  sendOne(turn, member, publishRejected(message, rejection, now()));
  for (const each of (isDeliveryBatch(message) ? readMembers(message) : undefined) ?? [message]) {
    for (const outgoing of reportRejection?.(each, rejection) ?? []) sendAny(turn, member, outgoing);
  }
}

/** Makes the text of an error storable: Postgres takes no NUL. */
function storable(detail: string): string {
  return detail
    .slice(0, LONGEST_DETAIL)
    .toWellFormed()
    .replaceAll('\0', String.raw`\u0000`);
}

export function sendOne<M>(turn: Turn<M>, member: Member<M>, what: Publication | Parked, afterMs = 0): void {
  member.underWay += 1;
  start(turn, what, { shares: [{ member: member.id, characters: 0 }], afterMs });
}

export function flush<M>(turn: Turn<M>): void {
  const { state } = turn;
  const { bufferedRecords: records } = state;
  state.bufferedRecords = [];
  state.bufferedCharacters = 0;
  sendBatch(turn, records, { of: ({ outcome }) => outcome, publish: publishOutcomes });
  sendBatch(turn, records, { of: ({ end }) => end, publish: publishEnds });
}

type BatchOf<T> = { of: (entry: BufferedRecord) => T | undefined; publish: (all: T[]) => Publication };

function sendBatch<M, T>(turn: Turn<M>, entries: readonly BufferedRecord[], { of, publish }: BatchOf<T>): void {
  const shares = entries.filter((entry) => of(entry) !== undefined);
  if (shares.length === 0) return;
  const publication = publish(shares.flatMap((entry) => of(entry) ?? []));
  const traced = shares.filter(({ traceparent }) => traceparent !== undefined);
  if (traced.length > 0) publication.headers = { traceparents: traced.map(({ traceparent }) => traceparent).join() };
  start(turn, publication, { shares, afterMs: 0 });
}

/** Keeps what waits for a confirm, where it may be kept: the broker takes nothing now, or the step is closing. */
export function keepAll<M>(turn: Turn<M>): void {
  for (const sending of turn.state.sendings.values()) {
    if (!sending.isKept && bypassesBroker(turn, sending)) keep(turn, sending, 0);
  }
}

export function confirmed<M>(turn: Turn<M>, id: number): void {
  const sending = removeSending(turn, id);
  for (const { member } of sending?.shares ?? []) isSafe(turn, member);
}

/** Sends it again: it may be in its queue, and can only be duplicated. */
export function unconfirmed<M>(turn: Turn<M>, id: number): void {
  const sending = noteAnswer(turn, id);
  if (sending === undefined) return;
  if (mayBeDropped(turn, sending)) return confirmed(turn, id);
  if (isWanted(turn, sending)) {
    sending.delayMs = Math.min(Math.max(FIRST_DELAY_MS, sending.delayMs * 2), LONGEST_DELAY_MS);
    sending.isKept = false;
    return ask(turn, sending, sending.delayMs);
  }
  giveUp(turn, sending, (member) => (member.isAbandoned = true));
}

/** Keeps it, as its queue confirms nothing; sends it again if it may not be kept. */
export function stalled<M>(turn: Turn<M>, id: number): void {
  const sending = turn.state.sendings.get(id);
  if (sending === undefined || !mayKeep(turn, sending)) return unconfirmed(turn, id);
  if (noteAnswer(turn, id) !== undefined) keep(turn, sending, 0);
}

/** Keeps an unroutable publication, as a binding may come. Fails the members if it may not be kept or the refusal is final. */
export function refused<M>(turn: Turn<M>, id: number, error: unknown): void {
  const sending = noteAnswer(turn, id);
  if (sending === undefined) return;
  if (mayBeLost(sending)) return confirmed(turn, id);
  if (mayKeep(turn, sending) && error instanceof Unroutable) return keep(turn, sending, 0);
  giveUp(turn, sending, (member) => (member.failure ??= { error }));
}

function mayBeLost({ what }: Sending): boolean {
  return what.kind === 'publish' && what.mayBeLost === true;
}

/** True if it may be lost and a working broker has not taken it up to the longest delay. */
function mayBeDropped<M>({ state }: Turn<M>, sending: Sending): boolean {
  return mayBeLost(sending) && state.broker === 'writable' && sending.delayMs === LONGEST_DELAY_MS;
}

function bufferOutcome<M>(turn: Turn<M>, member: Member<M>, outcome: Outcome): void {
  buffer(turn, member, { outcome, characters: charactersOf(outcome) });
}

/** Buffers the end of a delivery, to be sent with its record. */
function bufferEnd<M>(turn: Turn<M>, member: Member<M>, end: DeliveryEnd): void {
  buffer(turn, member, { end, characters: END_CHARACTERS });
}

function buffer<M>(turn: Turn<M>, member: Member<M>, what: Omit<BufferedRecord, 'member'>): void {
  const { state, effects } = turn;
  member.underWay += 1;
  state.bufferedCharacters += what.characters;
  const { isTraced, traceparent } = member.message;
  const trace = isTraced && traceparent !== undefined && { traceparent };
  if (state.bufferedRecords.push({ ...what, member: member.id, ...trace }) === 1) effects.push({ kind: 'flush later' });
  if (state.bufferedRecords.length >= LARGEST_BATCH || state.bufferedCharacters >= LARGEST_BATCH_CHARACTERS)
    flush(turn);
}

type SendOptions = { shares: Share[]; afterMs: number };

function start<M>(turn: Turn<M>, what: Publication | Parked, { shares, afterMs }: SendOptions): void {
  const sending = { id: ++turn.state.lastId, what, shares, delayMs: 0, asked: 0, isKept: false };
  turn.state.sendings.set(sending.id, sending);
  ask(turn, sending, afterMs);
}

function ask<M>(turn: Turn<M>, sending: Sending, afterMs: number): void {
  if (bypassesBroker(turn, sending)) return keep(turn, sending, afterMs);
  const { id, what } = sending;
  sending.asked += 1;
  if (what.kind === 'publish') turn.effects.push({ kind: 'publish', sending: id, publication: what, afterMs });
  else turn.effects.push({ kind: 'park', sending: id, parked: what, afterMs });
}

function keep<M>({ effects }: Turn<M>, sending: Sending, afterMs: number): void {
  if (sending.what.kind !== 'publish') return;
  sending.asked += 1;
  sending.isKept = true;
  effects.push({ kind: 'keep', sending: sending.id, publication: sending.what, afterMs });
}

function mayKeep<M>({ rules }: Turn<M>, { what }: Sending): boolean {
  return rules.keeps === true && what.kind === 'publish';
}

/** True if it goes to the store instead of the broker: the broker takes nothing, and the step must not wait for it. */
function bypassesBroker<M>(turn: Turn<M>, sending: Sending): boolean {
  const { broker, isClosing } = turn.state;
  if (broker === 'writable' || !mayKeep(turn, sending)) return false;
  return isClosing || (broker === 'blocked' && turn.rules.drainsWhileBlocked === true);
}

/** Returns the sending, unless another request for it is still unanswered. */
function noteAnswer<M>({ state }: Turn<M>, id: number): Sending | undefined {
  const sending = state.sendings.get(id);
  if (sending === undefined) return undefined;
  sending.asked -= 1;
  return sending.asked > 0 ? undefined : sending;
}

function giveUp<M>(turn: Turn<M>, { id, shares }: Sending, mark: (member: Member<M>) => unknown): void {
  removeSending(turn, id);
  for (const share of shares) {
    const member = turn.state.members.get(share.member);
    if (member === undefined) continue;
    mark(member);
    effectIsSafe(turn, member);
  }
}

/** Removes the sending: it is no longer under way. */
function removeSending<M>({ state }: Turn<M>, id: number): Sending | undefined {
  const sending = state.sendings.get(id);
  state.sendings.delete(id);
  return sending;
}

/**
 * Sends publications only while a message that caused them is held. Records go out even if it no longer is: the work was done.
 */
function isWanted<M>(turn: Turn<M>, { shares }: Sending): boolean {
  if (shares.some(({ characters }) => characters > 0) && !turn.state.isClosing) return true;
  return shares.some(({ member }) => isMemberHeld(turn, member));
}

function isSafe<M>(turn: Turn<M>, id: number): void {
  const member = turn.state.members.get(id);
  if (member !== undefined) effectIsSafe(turn, member);
}

function effectIsSafe<M>({ settled }: Turn<M>, member: Member<M>): void {
  member.underWay -= 1;
  if (member.underWay === 0) settled.push(member);
}

function isMemberHeld<M>(turn: Turn<M>, id: number): boolean {
  const member = turn.state.members.get(id);
  return member !== undefined && isHeld(turn, member);
}
