/**
 * Publications under way, to the broker or into a room, until they are safe elsewhere: a publication is sent again while one of
 * its messages is held, records and ends while the step runs. Retries do not repeat the handler's work, above all its HTTP request.
 */
import { backoffMs } from '@waybell/runtime/backoff';
import { Unroutable } from '../publish-errors.ts';
import { joinDeliveries } from '../delivery-batch.ts';
import type { Publication, Waiting } from '../messages.ts';
import type { Member, Sending, Share } from './state.ts';
import { isInHand, type Turn } from './turn.ts';

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

function mayBeLost({ what }: Sending): boolean {
  return what.kind === 'publish' && what.mayBeLost === true;
}

/** True if it may be lost and a working broker has not taken it up to the longest delay. */
function mayBeDropped<M>({ state }: Turn<M>, sending: Sending): boolean {
  return (
    mayBeLost(sending) && state.broker === 'writable' && backoffMs(BACKOFF, sending.failures) === BACKOFF.longestMs
  );
}

type SendOptions = { shares: Share[]; afterMs: number };

export function start<M>(turn: Turn<M>, what: Publication | Waiting, { shares, afterMs }: SendOptions): void {
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

/** Returns the sending, unless another request for it is still unanswered. */
function noteAnswer<M>({ state }: Turn<M>, id: number): Sending | undefined {
  const sending = state.sendings.get(id);
  if (sending === undefined) return undefined;
  sending.asked -= 1;
  return sending.asked > 0 ? undefined : sending;
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
  return shares.some(({ member }) => isMemberInHand(turn, member));
}

function isSafe<M>(turn: Turn<M>, id: number): void {
  const member = turn.state.members.get(id);
  if (member !== undefined) effectIsSafe(turn, member);
}

export function effectIsSafe<M>(turn: Turn<M>, member: Member<M>): void {
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
