import { actionTable, type ActionRow } from '../oracle/action-table.ts';
import { Dice } from './dice.ts';
import { anEvent } from './event.ts';
import { faults } from './faults.ts';
import { type Clothes, messageOf, placeIn, type Published, varied } from './message.ts';
import { messageFaults } from './message-faults.ts';

/** Every way of breaking an event, by name. */
export const faultNames = [...Object.keys(faults), ...Object.keys(messageFaults)];

/** After the place comes what is expected there. */
const PLACE_ENDS = /^(: .| \(character \d+(?: of its line \d+)?\): .)/;
const PLACE_ENDS_DEEPER = /^(\/\S*)?(: .| \(character \d+(?: of its line \d+)?\): .)/;

export const rowAt = (seed: number): ActionRow =>
  actionTable[seed % actionTable.length] ?? new Dice(seed).pick(actionTable);
export const clothesOf = (dice: Dice): Clothes => (dice.oneIn(5) ? 'cloud event' : 'envelope');

/** `head` is how the rejection must begin, `tail` how it must go on. */
export type Broken = { message: Published; head: string; tail: RegExp };

/** Null where the event of this seed cannot be broken in this way. */
function brokenEvent(name: string, seed: number): Broken | null {
  const dice = new Dice(seed);
  const event = anEvent(rowAt(seed), dice);
  const clothes = clothesOf(dice);
  const fault = faults[name]?.(event, dice);
  if (fault === null) return null;
  const message = messageOf(event, clothes, dice);
  if (fault !== undefined) {
    const head = `rejected ${fault.reason} ${placeIn(clothes, fault.place)}`;
    return { message: varied(message, event, dice), head, tail: fault.mayBeDeeper ? PLACE_ENDS_DEEPER : PLACE_ENDS };
  }
  const around = messageFaults[name]?.(message, event, dice);
  if (around === undefined) throw new Error(`no fault is called ${name}`);
  return { message: around.message, head: `rejected ${around.reason} ${around.detail}`, tail: /./ };
}

/** Breaks the event of this seed by the first fault, from that one on, that it can have. */
export function brokenFrom(first: number, seed: number): { name: string; broken: Broken } {
  for (const name of [...faultNames.slice(first), ...faultNames.slice(0, first)]) {
    const broken = brokenEvent(name, seed);
    if (broken !== null) return { name, broken };
  }
  throw new Error(`nothing can break the event of seed ${seed}`);
}
