/** Records and ends leave in batches: those of many messages travel together. */
import { END_CHARACTERS, publishEnds } from '../delivery-ends.ts';
import type { Publication } from '../messages.ts';
import { charactersOf, publishOutcomes } from '../outcome-batch.ts';
import type { DeliveryEnd, Outcome } from '../outcomes.ts';
import { start } from './sendings.ts';
import type { BufferedRecord, Member } from './state.ts';
import type { Turn } from './turn.ts';

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

export function bufferOutcome<M>(turn: Turn<M>, member: Member<M>, outcome: Outcome): void {
  buffer(turn, member, { member: member.id, outcome, characters: charactersOf(outcome) });
}

/** Buffers the end of a delivery, to be sent with its record. */
export function bufferEnd<M>(turn: Turn<M>, member: Member<M>, end: DeliveryEnd): void {
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
