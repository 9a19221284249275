import { unpark, type Delivery } from '@waybell/line/delivery';
import type { ParkedRow } from '@waybell/line/messages';
import { nameOfGuid, NEW_COPY, type Copy } from './copies.ts';
import { remembering } from './remembering.ts';

/** Beyond this nothing depends on how many owners died. */
const COUNTED_DEATHS = 3;

export const oneMoreDeath = (deaths: number) => Math.min(deaths + 1, COUNTED_DEATHS);

/** The table with that row in it: one that is there already stays as it is. */
export function withRow(parked: readonly ParkedRow[], row: ParkedRow): readonly ParkedRow[] {
  return parked.some((other) => isSamePlace(other, row)) ? parked : [...parked, row];
}

export function withoutRow(parked: readonly ParkedRow[], row: ParkedRow): readonly ParkedRow[] {
  return parked.filter((other) => !isSamePlace(other, row));
}

/** Whether that attempt is among parked rows, moved so often or more often. */
export function isAmong(parked: readonly ParkedRow[], { guid, attempt, hop = 0 }: Delivery): boolean {
  return parked.some((row) => row.delivery === guid && row.attempt === attempt && row.hop >= hop);
}

/** A row in hand, as an owner takes it after so many others died. The row stays where it is. */
export function copyOf(row: ParkedRow, deaths: number): Copy {
  const copy = copiesOf(row)[deaths < COUNTED_DEATHS ? 0 : 1];
  if (copy === undefined) throw new Error('a row is taken in one of two ways');
  return copy;
}

const copiesOf = remembering((row: ParkedRow): Copy[] =>
  [0, COUNTED_DEATHS].map((deaths) => {
    return { ...NEW_COPY, lane: 'queue', message: unpark(row, { deaths, isOverLimit: false }), row };
  }),
);

/** The delivery and attempt that a row is. */
export const rowKey = remembering((row: ParkedRow): string => {
  const { delivery, attempt, hop, why } = row;
  return `${nameOfGuid(delivery)}${attempt}.${hop} ${why}`;
});

function isSamePlace(one: ParkedRow, other: ParkedRow): boolean {
  return one.delivery === other.delivery && one.attempt === other.attempt && one.hop === other.hop;
}
