/** How messages enter the step: which are to be handled, and which of those wait for another with their key. */
import { isDeliveryBatch, rejectBatch } from '../delivery-batch.ts';
import { isRejection } from '../messages.ts';
import { putAside, rejectIt, sendAlone, tried } from './ends.ts';
import type { Arrived, Member } from './state.ts';
import { addMember, newSource, type Turn } from './turn.ts';
import { CRASHES_UNOPENED, intakeOf, KILLED } from './suspicion.ts';

export function came<M>(turn: Turn<M>, { id, lane, messages }: Arrived): void {
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
