/** How a member that takes long leaves its batch: another store holds it, and its neighbours can be acknowledged. */
import { leave } from './ends.ts';
import type { Input, Member } from './state.ts';
import { newSource, type Turn } from './turn.ts';

/**
 * Moves a running member out of its slow batch, so that its neighbours can be acknowledged. Skips redelivered ones: another store
 * may be searched for those, and finding one there means that another process has it.
 */
export function leaseSlowMembers<M>({ state, effects }: Turn<M>, sources: ReadonlySet<number>): void {
  for (const member of state.members.values()) {
    if (!member.isRunning || member.isLeaseAsked || !sources.has(member.source)) continue;
    if (member.message.deliveryCount > 0) continue;
    member.isLeaseAsked = true;
    // A running member was parsed.
    effects.push({ kind: 'lease', member: member.id, message: member.message, parsed: member.parsed as M });
  }
}

/** Makes the lease the source of the member; from now on the lease is acknowledged. */
export function adoptLease<M>(turn: Turn<M>, { member: id, source }: Input & { kind: 'leased' }): void {
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
