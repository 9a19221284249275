/**
 * The effects of messages, from the handler's result until they are safe: confirmed by the broker, or committed in a room.
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
import {
  type BufferedRecord,
  type Leaving,
  mayGoOut,
  type Member,
  type Sending,
  type Share,
  type Transition,
} from './state.ts';
import { publishRejected } from './suspicion.ts';

const LONGEST_DETAIL = 1_000;

/** Sends all effects of a message. Settles the member when none is under way any more. */
export function sendAll<M>(
  transition: Transition<M>,
  member: Member<M>,
  caused: readonly (Outgoing | Rejection)[],
): void {
  // Counts the loop itself, so that the member is not settled before all are under way.
  member.underWay += 1;
  try {
    for (const outgoing of caused) sendAny(transition, member, outgoing);
  } finally {
    effectIsSafe(transition, member);
  }
}

function sendAny<M>(transition: Transition<M>, member: Member<M>, outgoing: Outgoing | Rejection): void {
  if (outgoing.kind === 'reject') sendRejection(transition, member, outgoing);
  else if (outgoing.kind === 'outcome') bufferOutcome(transition, member, outgoing.outcome);
  else if (outgoing.kind === 'end') bufferEnd(transition, member, outgoing.end);
  else if (outgoing.kind === 'publish' && outgoing.delivery !== undefined) {
    member.underWay += 1;
    transition.leaving.push({ member: member.id, publication: outgoing });
  } else sendOne(transition, member, outgoing);
}

/** Sends the message itself to the rejected queue, and the effects that report its rejection. */
function sendRejection<M>(transition: Transition<M>, member: Member<M>, { detail, ...of }: Rejection): void {
  const { reportRejection, now } = transition.rules;
  const { message } = member;
  const rejection = { ...of, detail: storable(detail) };
  sendOne(transition, member, publishRejected(message, rejection, now()));
  for (const each of (isDeliveryBatch(message) ? readMembers(message) : undefined) ?? [message]) {
    for (const outgoing of reportRejection?.(each, rejection) ?? []) sendAny(transition, member, outgoing);
  }
}

/** Makes the text of an error storable: Postgres takes no NUL. */
function storable(detail: string): string {
  return detail
    .slice(0, LONGEST_DETAIL)
    .toWellFormed()
    .replaceAll('\0', String.raw`\u0000`);
}

/** Sends the deliveries that leave in this transition: those for one queue travel together. */
export function joinLeaving<M>(transition: Transition<M>): void {
  const { leaving } = transition;
  if (leaving.length === 0) return;
  transition.leaving = [];
  for (const { publication, members } of joinDeliveries(leaving))
    start(transition, publication, { shares: members.map(shareOf) });
}

const shareOf = ({ member, publication }: Leaving): Share => ({ member, publication, characters: 0 });

/**
 * How long a record waits for others to travel with, and how many travel together. A message is in hand until its record is
 * confirmed, so what a step has in hand (ROUTE_HELD, LEAST_HELD) must be more than comes in several such times at full rate: with fewer in
 * hand, longer waits make the line slower; with more, each record, acknowledgement and message after it costs less. What a crash
 * repeats grows with the wait.
 */
export const FLUSH_MS = 60;
export const LARGEST_BATCH = 400;
/** Records carry bodies, and a reader has many batches in hand at once. */
const LARGEST_BATCH_CHARACTERS = 2 ** 18;

function bufferOutcome<M>(transition: Transition<M>, member: Member<M>, outcome: Outcome): void {
  buffer(transition, member, { member: member.id, outcome, characters: charactersOf(outcome) });
}

/** Buffers the end of a delivery, to be sent with its record. */
function bufferEnd<M>(transition: Transition<M>, member: Member<M>, end: DeliveryEnd): void {
  buffer(transition, member, { member: member.id, end, characters: END_CHARACTERS });
}

function buffer<M>(transition: Transition<M>, member: Member<M>, record: BufferedRecord): void {
  const { state, effects } = transition;
  const { isTraced, traceparent } = member.message;
  member.underWay += 1;
  if (isTraced && traceparent !== undefined) record.traceparent = traceparent;
  state.bufferedCharacters += record.characters;
  if (state.bufferedRecords.push(record) === 1) effects.push({ kind: 'flush later' });
  if (state.bufferedRecords.length >= LARGEST_BATCH || state.bufferedCharacters >= LARGEST_BATCH_CHARACTERS)
    flush(transition);
}

export function flush<M>(transition: Transition<M>): void {
  const { state } = transition;
  const { bufferedRecords: records } = state;
  state.bufferedRecords = [];
  state.bufferedCharacters = 0;
  sendBatch(transition, records, { of: ({ outcome }) => outcome, publish: publishOutcomes });
  sendBatch(transition, records, { of: ({ end }) => end, publish: publishEnds });
}

function sendBatch<M, T>(
  transition: Transition<M>,
  records: readonly BufferedRecord[],
  { of, publish }: { of: (record: BufferedRecord) => T | undefined; publish: (all: T[]) => Publication },
): void {
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
  start(transition, publication, { shares });
}

const BACKOFF = { firstMs: 50, longestMs: 1_000 };

export function sendOne<M>(
  transition: Transition<M>,
  member: Member<M>,
  what: Publication | Waiting,
  afterMs = 0,
): void {
  member.underWay += 1;
  start(transition, what, { shares: [{ member: member.id, characters: 0 }], afterMs });
}

/**
 * Puts publications that wait for a confirm into a room, if one may take them: the broker takes nothing now, or the step is
 * closing.
 */
export function putAll<M>(transition: Transition<M>): void {
  for (const sending of transition.state.sendings.values()) {
    if (!sending.isPut && bypassesBroker(transition, sending) && remains(transition, sending))
      put(transition, sending, 0);
  }
}

export function confirmed<M>(transition: Transition<M>, id: number): void {
  const sending = removeSending(transition, id);
  for (const { member } of sending?.shares ?? []) isSafe(transition, member);
}

/** Sends it again: it may be in its queue, and can only be duplicated. */
export function unconfirmed<M>(transition: Transition<M>, id: number): void {
  const sending = noteAnswer(transition, id);
  if (sending === undefined) return;
  if (mayBeDropped(transition, sending)) return confirmed(transition, id);
  sending.failures += 1;
  if (remains(transition, sending)) ask(transition, sending, backoffMs(BACKOFF, sending.failures));
}

/** Puts it into a room, as its queue confirms nothing; sends it again if no room may take it. */
export function stalled<M>(transition: Transition<M>, id: number): void {
  const sending = transition.state.sendings.get(id);
  if (sending === undefined || !mayPut(transition, sending)) return unconfirmed(transition, id);
  if (noteAnswer(transition, id) !== undefined && remains(transition, sending)) put(transition, sending, 0);
}

/** Puts an unroutable publication into a room, as a binding may come. Fails the members if none may take it or the refusal is final. */
export function refused<M>(transition: Transition<M>, id: number, error: unknown): void {
  const sending = noteAnswer(transition, id);
  if (sending === undefined) return;
  if (mayBeLost(sending)) return confirmed(transition, id);
  if (!mayPut(transition, sending) || !(error instanceof Unroutable))
    giveUp(transition, sending, (member) => (member.failure ??= { error }));
  else if (remains(transition, sending)) put(transition, sending, 0);
}

/** Whether a sending is as it may go out now. False: `unconfirmed` leaves out what may not, or gives it up. */
export function isCurrent<M>(transition: Pick<Transition<M>, 'state'>, id: number): boolean {
  const sending = transition.state.sendings.get(id);
  return sending !== undefined && leftOut(transition, sending).length === 0;
}

function start<M>(
  transition: Transition<M>,
  what: Publication | Waiting,
  { shares, afterMs = 0 }: { shares: Share[]; afterMs?: number },
): void {
  const sending: Sending = { id: ++transition.state.lastId, what, shares, failures: 0, asked: 0, isPut: false };
  transition.state.sendings.set(sending.id, sending);
  ask(transition, sending, afterMs);
}

function ask<M>(transition: Transition<M>, sending: Sending, afterMs: number): void {
  const { id, what, shares } = sending;
  if (what.kind === 'wait' || bypassesBroker(transition, sending)) return put(transition, sending, afterMs);
  sending.asked += 1;
  sending.isPut = false;
  const deliveries = shares.reduce((count, share) => count + (share.publication === undefined ? 0 : 1), 0);
  transition.effects.push({ kind: 'publish', sending: id, publication: what, deliveries, afterMs });
}

function put<M>({ effects }: Transition<M>, sending: Sending, afterMs: number): void {
  sending.asked += 1;
  sending.isPut = true;
  effects.push({ kind: 'put', sending: sending.id, what: sending.what, afterMs });
}

/** True if a room may take it instead of the broker. */
function mayPut<M>({ rules }: Transition<M>, { what }: Sending): boolean {
  return rules.hasRooms === true && what.kind === 'publish';
}

/** True if it goes into a room instead of to the broker: the broker takes nothing, and the step must not wait for it. */
function bypassesBroker<M>(transition: Transition<M>, sending: Sending): boolean {
  const { broker, isClosing } = transition.state;
  if (broker === 'writable' || !mayPut(transition, sending)) return false;
  return isClosing || (broker === 'blocked' && transition.rules.drainsWhileBlocked === true);
}

function mayBeLost({ what }: Sending): boolean {
  return what.kind === 'publish' && what.mayBeLost === true;
}

/** True if it may be lost and a working broker has not taken it up to the longest delay. */
function mayBeDropped<M>({ state }: Transition<M>, sending: Sending): boolean {
  return (
    mayBeLost(sending) && state.broker === 'writable' && backoffMs(BACKOFF, sending.failures) === BACKOFF.longestMs
  );
}

/** Whether something of it is to go out again. The members for which it may not are abandoned. */
function remains<M>(transition: Transition<M>, sending: Sending): boolean {
  const out = leftOut(transition, sending);
  const isAny = out.length < sending.shares.length;
  if (!isAny) giveUp(transition, sending, abandon);
  else if (out.length > 0) leaveOut(transition, sending, out);
  return isAny;
}

/** The shares that are not to go out again. Records are one body: all of them go, or none. */
function leftOut<M>(transition: Pick<Transition<M>, 'state'>, { shares }: Sending): Share[] {
  const out = shares.filter(({ member: id, characters }) => {
    const member = transition.state.members.get(id);
    return member === undefined || !mayGoOut(transition, member, characters > 0 ? 'record' : 'work');
  });
  const isOneBody = shares.some(({ characters }) => characters > 0);
  return isOneBody && out.length < shares.length ? [] : out;
}

const abandon = (member: Pick<Member<unknown>, 'isAbandoned'>): boolean => (member.isAbandoned = true);

/** Returns the sending, unless another request for it is still unanswered. */
function noteAnswer<M>({ state }: Transition<M>, id: number): Sending | undefined {
  const sending = state.sendings.get(id);
  if (sending === undefined) return undefined;
  sending.asked -= 1;
  return sending.asked > 0 ? undefined : sending;
}

/** Removes deliveries from a sending that is to be sent again: another process has their messages, and will send them itself. */
function leaveOut<M>(transition: Transition<M>, sending: Sending, out: readonly Share[]): void {
  sending.shares = sending.shares.filter((share) => !out.includes(share));
  const rest = sending.shares.flatMap(({ publication }) => (publication === undefined ? [] : [{ publication }]));
  // The remaining deliveries fit into one message, as all of them did.
  sending.what = joinDeliveries(rest)[0]?.publication ?? sending.what;
  giveUpShares(transition, out, abandon);
}

function giveUp<M>(transition: Transition<M>, { id, shares }: Sending, mark: (member: Member<M>) => unknown): void {
  removeSending(transition, id);
  giveUpShares(transition, shares, mark);
}

function giveUpShares<M>(
  transition: Transition<M>,
  shares: readonly Share[],
  mark: (member: Member<M>) => unknown,
): void {
  for (const share of shares) {
    const member = transition.state.members.get(share.member);
    if (member === undefined) continue;
    mark(member);
    effectIsSafe(transition, member);
  }
}

/** Removes the sending: it is no longer under way. */
function removeSending<M>({ state }: Transition<M>, id: number): Sending | undefined {
  const sending = state.sendings.get(id);
  state.sendings.delete(id);
  return sending;
}

function isSafe<M>(transition: Transition<M>, id: number): void {
  const member = transition.state.members.get(id);
  if (member !== undefined) effectIsSafe(transition, member);
}

function effectIsSafe<M>(transition: Transition<M>, member: Member<M>): void {
  member.underWay -= 1;
  if (member.underWay === 0) toSettle(transition, member);
}

export function toSettle<M>({ settled }: Transition<M>, member: Member<M>): void {
  if (member.isSettling) return;
  member.isSettling = true;
  settled.push(member);
}
