/**
 * The effects of messages, from the handler's result until they are safe elsewhere.
 *
 * - `sendAll` starts all effects of a message, each by its kind. Deliveries of one transition leave together; records and ends are
 *   buffered and leave in batches, as those of many messages travel together.
 * - A sending is one publication under way, to the broker or into a room, with the members that share its result. It is sent again
 *   while one of its messages is in hand; records and ends, while the step runs. The handler's work is not repeated, above all its
 *   HTTP request.
 * - A member none of whose effects is under way any more is settled: `ends.ts` goes on with it.
 */
import { backoffMs } from '@waybell/runtime/backoff';
import { isDeliveryBatch, joinDeliveries, readMembers } from '../delivery-batch.ts';
import { type Outgoing, type Publication, type Rejection, Unroutable, type Waiting } from '../messages.ts';
import { charactersOf, END_CHARACTERS, publishEnds, publishOutcomes } from '../outcome-batch.ts';
import type { DeliveryEnd, Outcome } from '../outcomes.ts';
import { type BufferedRecord, isInHand, type Leaving, type Member, type Sending, type Share, type Turn } from './state.ts';
import { publishRejected } from './suspicion.ts';

const LONGEST_DETAIL = 1_000;

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
  if (outgoing.kind === 'reject') sendRejection(turn, member, outgoing);
  else if (outgoing.kind === 'outcome') bufferOutcome(turn, member, outgoing.outcome);
  else if (outgoing.kind === 'end') bufferEnd(turn, member, outgoing.end);
  else if (outgoing.kind === 'publish' && outgoing.deliveries) {
    member.underWay += 1;
    turn.leaving.push({ member: member.id, publication: outgoing });
  } else sendOne(turn, member, outgoing);
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

/** Sends the deliveries that leave in this turn: those for one queue travel together. */
export function joinLeaving<M>(turn: Turn<M>): void {
  const { leaving } = turn;
  if (leaving.length === 0) return;
  turn.leaving = [];
  for (const { publication, members } of joinDeliveries(leaving))
    start(turn, publication, { shares: members.map(shareOf), afterMs: 0 });
}

const shareOf = ({ member, publication }: Leaving): Share => ({ member, publication, characters: 0 });

/**
 * How long a record waits for others to travel with, and how many travel together. A message is in hand until its record is
 * confirmed, so what a step holds (ROUTE_HELD, LEAST_HELD) must be more than comes in several such times at full rate: with fewer in
 * hand, longer waits make the line slower; with more, each record, acknowledgement and message after it costs less. What a crash
 * repeats grows with the wait.
 */
export const FLUSH_MS = 60;
export const LARGEST_BATCH = 400;
/** Records carry bodies, and a reader holds many batches at once. */
const LARGEST_BATCH_CHARACTERS = 2 ** 18;

function bufferOutcome<M>(turn: Turn<M>, member: Member<M>, outcome: Outcome): void {
  buffer(turn, member, { member: member.id, outcome, characters: charactersOf(outcome) });
}

/** Buffers the end of a delivery, to be sent with its record. */
function bufferEnd<M>(turn: Turn<M>, member: Member<M>, end: DeliveryEnd): void {
  buffer(turn, member, { member: member.id, end, characters: END_CHARACTERS });
}

function buffer<M>(turn: Turn<M>, member: Member<M>, record: BufferedRecord): void {
  const { state, effects } = turn;
  const { isTraced, traceparent } = member.message;
  member.underWay += 1;
  if (isTraced && traceparent !== undefined) record.traceparent = traceparent;
  state.bufferedCharacters += record.characters;
  if (state.bufferedRecords.push(record) === 1) effects.push({ kind: 'flush later' });
  if (state.bufferedRecords.length >= LARGEST_BATCH || state.bufferedCharacters >= LARGEST_BATCH_CHARACTERS)
    flush(turn);
}

export function flush<M>(turn: Turn<M>): void {
  const { state } = turn;
  const { bufferedRecords: records } = state;
  state.bufferedRecords = [];
  state.bufferedCharacters = 0;
  sendBatch(turn, records, { of: ({ outcome }) => outcome, publish: publishOutcomes });
  sendBatch(turn, records, { of: ({ end }) => end, publish: publishEnds });
}

type BatchOf<T> = { of: (record: BufferedRecord) => T | undefined; publish: (all: T[]) => Publication };

function sendBatch<M, T>(turn: Turn<M>, records: readonly BufferedRecord[], { of, publish }: BatchOf<T>): void {
  const [shares, all]: [BufferedRecord[], T[]] = [[], []];
  for (const record of records) {
    const what = of(record);
    if (what === undefined) continue;
    shares.push(record);
    all.push(what);
  }
  if (shares.length === 0) return;
  const publication = publish(all);
  const traced = shares.flatMap(({ traceparent }) => traceparent ?? []);
  if (traced.length > 0) publication.headers = { traceparents: traced.join() };
  start(turn, publication, { shares, afterMs: 0 });
}

const BACKOFF = { firstMs: 50, longestMs: 1_000 };

export function sendOne<M>(turn: Turn<M>, member: Member<M>, what: Publication | Waiting, afterMs = 0): void {
  member.underWay += 1;
  start(turn, what, { shares: [{ member: member.id, characters: 0 }], afterMs });
}

/**
 * Puts publications that wait for a confirm into a room, if one may take them: the broker takes nothing now, or the step is
 * closing.
 */
export function putAll<M>(turn: Turn<M>): void {
  for (const sending of turn.state.sendings.values()) {
    if (!sending.isPut && bypassesBroker(turn, sending)) put(turn, sending, 0);
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
    leaveOut(turn, sending, ({ member }) => !isMemberInHand(turn, member));
    sending.failures += 1;
    return ask(turn, sending, backoffMs(BACKOFF, sending.failures));
  }
  giveUp(turn, sending, (member) => (member.isAbandoned = true));
}

/** Puts it into a room, as its queue confirms nothing; sends it again if no room may take it. */
export function stalled<M>(turn: Turn<M>, id: number): void {
  const sending = turn.state.sendings.get(id);
  if (sending === undefined || !mayPut(turn, sending)) return unconfirmed(turn, id);
  if (noteAnswer(turn, id) !== undefined) put(turn, sending, 0);
}

/** Puts an unroutable publication into a room, as a binding may come. Fails the members if none may take it or the refusal is final. */
export function refused<M>(turn: Turn<M>, id: number, error: unknown): void {
  const sending = noteAnswer(turn, id);
  if (sending === undefined) return;
  if (mayBeLost(sending)) return confirmed(turn, id);
  if (mayPut(turn, sending) && error instanceof Unroutable) return put(turn, sending, 0);
  giveUp(turn, sending, (member) => (member.failure ??= { error }));
}

type SendOptions = { shares: Share[]; afterMs: number };

function start<M>(turn: Turn<M>, what: Publication | Waiting, { shares, afterMs }: SendOptions): void {
  const sending: Sending = { id: ++turn.state.lastId, what, shares, failures: 0, asked: 0, isPut: false };
  turn.state.sendings.set(sending.id, sending);
  ask(turn, sending, afterMs);
}

function ask<M>(turn: Turn<M>, sending: Sending, afterMs: number): void {
  const { id, what, shares } = sending;
  if (what.kind === 'wait' || bypassesBroker(turn, sending)) return put(turn, sending, afterMs);
  sending.asked += 1;
  sending.isPut = false;
  const deliveries = shares.reduce((count, share) => count + (share.publication === undefined ? 0 : 1), 0);
  turn.effects.push({ kind: 'publish', sending: id, publication: what, deliveries, afterMs });
}

function put<M>({ effects }: Turn<M>, sending: Sending, afterMs: number): void {
  sending.asked += 1;
  sending.isPut = true;
  effects.push({ kind: 'put', sending: sending.id, what: sending.what, afterMs });
}

/** True if a room may take it instead of the broker. */
function mayPut<M>({ rules }: Turn<M>, { what }: Sending): boolean {
  return rules.hasRooms === true && what.kind === 'publish';
}

/** True if it goes into a room instead of to the broker: the broker takes nothing, and the step must not wait for it. */
function bypassesBroker<M>(turn: Turn<M>, sending: Sending): boolean {
  const { broker, isClosing } = turn.state;
  if (broker === 'writable' || !mayPut(turn, sending)) return false;
  return isClosing || (broker === 'blocked' && turn.rules.drainsWhileBlocked === true);
}

function mayBeLost({ what }: Sending): boolean {
  return what.kind === 'publish' && what.mayBeLost === true;
}

/** True if it may be lost and a working broker has not taken it up to the longest delay. */
function mayBeDropped<M>({ state }: Turn<M>, sending: Sending): boolean {
  return (
    mayBeLost(sending) && state.broker === 'writable' && backoffMs(BACKOFF, sending.failures) === BACKOFF.longestMs
  );
}

/**
 * Sends publications only while a message that caused them is held. Records go out even if it no longer is: the work was done.
 */
function isWanted<M>(turn: Turn<M>, { shares }: Sending): boolean {
  if (shares.some(({ characters }) => characters > 0) && !turn.state.isClosing) return true;
  return shares.some(({ member }) => isMemberInHand(turn, member));
}

/** Returns the sending, unless another request for it is still unanswered. */
function noteAnswer<M>({ state }: Turn<M>, id: number): Sending | undefined {
  const sending = state.sendings.get(id);
  if (sending === undefined) return undefined;
  sending.asked -= 1;
  return sending.asked > 0 ? undefined : sending;
}

/** Takes deliveries out of a sending that is to be sent again: another process has their messages, and will send them itself. */
function leaveOut<M>(turn: Turn<M>, sending: Sending, isOut: (share: Share) => boolean): void {
  const out = sending.shares.filter((share) => share.publication !== undefined && isOut(share));
  if (out.length === 0) return;
  sending.shares = sending.shares.filter((share) => !out.includes(share));
  const rest = sending.shares.flatMap(({ publication }) => (publication === undefined ? [] : [{ publication }]));
  // The remaining deliveries fit into one message, as all of them did.
  sending.what = joinDeliveries(rest)[0]?.publication ?? sending.what;
  giveUpShares(turn, out, (member) => (member.isAbandoned = true));
}

function giveUp<M>(turn: Turn<M>, { id, shares }: Sending, mark: (member: Member<M>) => unknown): void {
  removeSending(turn, id);
  giveUpShares(turn, shares, mark);
}

function giveUpShares<M>(turn: Turn<M>, shares: readonly Share[], mark: (member: Member<M>) => unknown): void {
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

function isSafe<M>(turn: Turn<M>, id: number): void {
  const member = turn.state.members.get(id);
  if (member !== undefined) effectIsSafe(turn, member);
}

function effectIsSafe<M>(turn: Turn<M>, member: Member<M>): void {
  member.underWay -= 1;
  if (member.underWay === 0) toSettle(turn, member);
}

export function toSettle<M>({ settled }: Turn<M>, member: Member<M>): void {
  if (member.isSettling) return;
  member.isSettling = true;
  settled.push(member);
}

function isMemberInHand<M>(turn: Turn<M>, id: number): boolean {
  const member = turn.state.members.get(id);
  return member !== undefined && isInHand(turn, member);
}
