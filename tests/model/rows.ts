/** Rows in the room of the endpoint: deliveries that wait there, or are under way. */
import { asWaited, wait, type Delivery } from '@waybell/line/delivery';
import type { WaitingRow } from '@waybell/line/messages';
import { takenOf } from '@waybell/line/testing/a-delivery';
import { attemptOf, NEW_COPY, type Copy } from './copies.ts';
import { remembering } from './remembering.ts';

/** `what`: another object with each put, as the `no` of a row is another: what was taken is settled only while it is there. */
export type RoomRow = { what: WaitingRow; isDue: boolean };

/** Beyond this nothing depends on how many processes died holding the room. */
export const COUNTED_CRASHES = 3;
export const ROOM = { room: '0'.repeat(32), account: '' };

/** The row of an attempt that is under way. It is due when its request must be over. */
export const openRow = (delivery: Delivery): WaitingRow =>
  wait({ ...delivery, room: ROOM }, { why: 'open', afterMs: 1 }).row;

/** Whether the row is as it was taken. */
export function isCurrent(rows: readonly RoomRow[], taken: WaitingRow): boolean {
  return rows.some(({ what }) => what === taken);
}

/** A row in hand, as it is taken after so many died holding the room. The row stays where it is. */
export function copyOf(what: WaitingRow, crashes: number): Copy {
  const copy = copiesOf(what)[crashes < COUNTED_CRASHES ? 0 : 1];
  if (copy === undefined) throw new Error('a row is taken in one of two ways');
  return copy;
}

const copiesOf = remembering((what: WaitingRow): Copy[] =>
  [0, COUNTED_CRASHES].map((crashes) => {
    const message = asWaited(takenOf(what), { crashes, isOverLimit: false });
    return { ...NEW_COPY, lane: 'queue', message, row: what };
  }),
);

/** The delivery and attempt that a row is, and why it waits. */
export const rowKey = remembering((what: WaitingRow): string => {
  const { delivery, attempt } = attemptOf(copyOf(what, 0).message);
  return `${delivery}${attempt} ${what.why}`;
});
