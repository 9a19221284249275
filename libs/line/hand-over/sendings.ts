/**
 * What messages caused, until it is safe elsewhere: sent again for as long as one of those is held that it is sent for,
 * and records and ends for as long as the step runs.
 * A handler's work, an HTTP request above all, is not repeated because the broker stumbled. Records travel together, and
 * so do ends.
 */
import { isBundle, readMembers } from '../bundle.ts';
import { joinEnds, writeEnd, type DeliveryEnd } from '../delivery-ends.ts';
import type { Outgoing, Parked, Publication, Rejection } from '../messages.ts';
import { closesDelivery, joinOutcomes, writeOutcome, type Outcome } from '../outcomes.ts';
import { endsExchange, outcomesExchange } from '../topology.ts';
import { publishRejected } from './aside.ts';
import { isHeld, type Entry, type Member, type Sending, type Share, type State, type Turn } from './state.ts';

/** What travels together, and how it is joined. */
const BATCHES = [
  [outcomesExchange, joinOutcomes],
  [endsExchange, joinEnds],
] as const;
const LARGEST_BATCH = 100;
/** Records of exhausted deliveries carry a body, and a broker refuses messages beyond 16 MiB, with the whole channel. */
const LARGEST_BATCH_CHARACTERS = 2 ** 20;
/** About a hundred thousand records: what is kept of them while the broker blocks, and lost if the process is killed. */
const LARGEST_BACKLOG_CHARACTERS = 2 ** 25;
const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 1_000;

/** Sends all that a message caused; the member is settled when nothing of it is under way any more. */
export function send<M>(turn: Turn<M>, member: Member<M>, caused: readonly Outgoing[]): void {
  // Itself, until all are under way.
  member.underWay += 1;
  try {
    for (const outgoing of caused) {
      if (outgoing.kind === 'outcome') record(turn, member, outgoing.outcome);
      else if (outgoing.kind === 'end') note(turn, member, outgoing.end);
      else if (outgoing.kind === 'reject') sendRejection(turn, member, outgoing);
      else sendOne(turn, member, outgoing);
    }
  } finally {
    oneIsSafe(turn, member);
  }
}

/** The message itself goes to the rejected queue, and onto the record if it can be found there. */
function sendRejection<M>(turn: Turn<M>, member: Member<M>, rejection: Rejection): void {
  const { recordRejection, now } = turn.rules;
  const { message } = member;
  sendOne(turn, member, publishRejected(message, rejection, now()));
  for (const each of isBundle(message) ? (readMembers(message) ?? []) : [message]) {
    const outcome = recordRejection?.(each, rejection);
    if (outcome !== undefined) record(turn, member, outcome);
  }
}

export function sendOne<M>(turn: Turn<M>, member: Member<M>, what: Publication | Parked, afterMs = 0): void {
  member.underWay += 1;
  start(turn, what, { shares: [{ member: member.id, characters: 0, mayLetGo: false }], afterMs });
}

/** Whether another message can be let go of while the broker blocks. */
export function hasBacklogRoom({ keptCharacters }: Pick<State<unknown>, 'keptCharacters'>): boolean {
  return keptCharacters < LARGEST_BACKLOG_CHARACTERS;
}

export function flush<M>(turn: Turn<M>): void {
  const { state } = turn;
  const { entries } = state;
  state.entries = [];
  state.entryCharacters = 0;
  for (const [exchange, join] of BATCHES) {
    const shares = entries.filter((entry) => entry.exchange === exchange);
    if (shares.length === 0) continue;
    const body = join(shares.map(({ record: written }) => written));
    const what = { kind: 'publish', exchange, routingKey: '', body, contentType: 'application/json' } as const;
    const sending = start(turn, what, { shares, afterMs: 0 });
    if (state.broker === 'blocked') letGo(turn, sending);
  }
}

/** The broker blocks: what only waits for a record goes, and the record is kept, as many as there is room for. */
export function letGoOfAll<M>(turn: Turn<M>): void {
  for (const sending of turn.state.sendings.values()) letGo(turn, sending);
}

export function confirmed<M>(turn: Turn<M>, id: number): void {
  const sending = take(turn, id);
  for (const { member } of sending?.shares ?? []) isSafe(turn, member);
}

/** It may or may not be in its queue: sending it again can only duplicate it. */
export function unconfirmed<M>(turn: Turn<M>, id: number): void {
  const sending = turn.state.sendings.get(id);
  if (sending === undefined) return;
  if (isWanted(turn, sending)) {
    sending.delayMs = Math.min(Math.max(FIRST_DELAY_MS, sending.delayMs * 2), LONGEST_DELAY_MS);
    return ask(turn, sending, sending.delayMs);
  }
  giveUp(turn, sending, (member) => (member.isAbandoned = true));
}

/** No queue takes it. */
export function refused<M>(turn: Turn<M>, id: number, error: unknown): void {
  const sending = turn.state.sendings.get(id);
  if (sending !== undefined) giveUp(turn, sending, (member) => (member.failure ??= { error }));
}

function record<M>(turn: Turn<M>, member: Member<M>, outcome: Outcome): void {
  enter(turn, member, {
    exchange: outcomesExchange,
    record: writeOutcome(outcome),
    mayLetGo: closesDelivery(outcome),
  });
}

/** The end of a delivery goes when its record does. */
function note<M>(turn: Turn<M>, member: Member<M>, end: DeliveryEnd): void {
  enter(turn, member, { exchange: endsExchange, record: writeEnd(end), mayLetGo: end.isDelivered });
}

function enter<M>(turn: Turn<M>, member: Member<M>, what: Omit<Entry, 'member' | 'characters'>): void {
  const { state, effects } = turn;
  const { length: characters } = what.record;
  member.underWay += 1;
  state.entryCharacters += characters;
  if (state.entries.push({ ...what, member: member.id, characters }) === 1) effects.push({ kind: 'flush later' });
  if (state.entries.length >= LARGEST_BATCH || state.entryCharacters >= LARGEST_BATCH_CHARACTERS) flush(turn);
}

type Start = { shares: Share[]; afterMs: number };

function start<M>(turn: Turn<M>, what: Publication | Parked, { shares, afterMs }: Start): Sending {
  const sending = { id: ++turn.state.lastId, what, shares, delayMs: 0, kept: { records: 0, characters: 0 } };
  turn.state.sendings.set(sending.id, sending);
  ask(turn, sending, afterMs);
  return sending;
}

function ask<M>({ effects }: Turn<M>, { id: sending, what }: Sending, afterMs: number): void {
  if (what.kind === 'publish') effects.push({ kind: 'publish', sending, publication: what, afterMs });
  else effects.push({ kind: 'park', sending, parked: what, afterMs });
}

function letGo<M>(turn: Turn<M>, sending: Sending): void {
  const stays: Share[] = [];
  for (const share of sending.shares) {
    if (!share.mayLetGo || !hasBacklogRoom(turn.state)) {
      stays.push(share);
      continue;
    }
    sending.kept.records += 1;
    sending.kept.characters += share.characters;
    turn.state.keptCharacters += share.characters;
    isSafe(turn, share.member);
  }
  sending.shares = stays;
}

function giveUp<M>(turn: Turn<M>, { id, shares, kept }: Sending, mark: (member: Member<M>) => unknown): void {
  take(turn, id);
  if (kept.records > 0) turn.effects.push({ kind: 'tell', news: { kind: 'lost', records: kept.records } });
  for (const share of shares) {
    const member = turn.state.members.get(share.member);
    if (member === undefined) continue;
    mark(member);
    oneIsSafe(turn, member);
  }
}

/** Nothing is under way for it any more. */
function take<M>({ state }: Turn<M>, id: number): Sending | undefined {
  const sending = state.sendings.get(id);
  state.sendings.delete(id);
  state.keptCharacters -= sending?.kept.characters ?? 0;
  return sending;
}

/** A message is sent only while what caused it is held; what was done is to be on record even if it no longer is. */
function isWanted<M>(turn: Turn<M>, { shares, kept }: Sending): boolean {
  const { isClosing, isClosed } = turn.state;
  if (kept.records > 0 && !isClosed) return true;
  if (shares.some(({ characters }) => characters > 0) && !isClosing) return true;
  return shares.some(({ member }) => isMemberHeld(turn, member));
}

function isSafe<M>(turn: Turn<M>, id: number): void {
  const member = turn.state.members.get(id);
  if (member !== undefined) oneIsSafe(turn, member);
}

function oneIsSafe<M>({ settled }: Turn<M>, member: Member<M>): void {
  member.underWay -= 1;
  if (member.underWay === 0) settled.push(member);
}

function isMemberHeld<M>(turn: Turn<M>, id: number): boolean {
  const member = turn.state.members.get(id);
  return member !== undefined && isHeld(turn, member);
}
