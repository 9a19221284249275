/** Sends what messages cause. */
import { joinDeliveries, isDeliveryBatch, readMembers } from '../delivery-batch.ts';
import type { Outgoing, Rejection } from '../messages.ts';
import { publishRejected } from './aside.ts';
import { bufferEnd, bufferOutcome } from './records.ts';
import { effectIsSafe, sendOne, start } from './sendings.ts';
import type { Leaving, Member, Share } from './state.ts';
import type { Turn } from './turn.ts';

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

/** Sends the deliveries that leave in this turn: those for one queue travel together. */
export function joinLeaving<M>(turn: Turn<M>): void {
  const { leaving } = turn;
  if (leaving.length === 0) return;
  turn.leaving = [];
  for (const { publication, members } of joinDeliveries(leaving))
    start(turn, publication, { shares: members.map(shareOf), afterMs: 0 });
}

const shareOf = ({ member, publication }: Leaving): Share => ({ member, publication, characters: 0 });

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
