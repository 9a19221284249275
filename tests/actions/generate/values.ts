import { cancellationReasons, loadRequestRows, type Kind, type Row } from '../oracle/member-tables.ts';
import type { Dice } from './dice.ts';
import { array, type Entry, type Json, nothing, object, quoted, same } from './json.ts';

const texts = ['', 'x', 'né', '😀 "quoted" \\ /', 'line\nbreak\ttab', '\u2028\u007f\u0001', 'cut \ud83d', '\udc00!'];
const fractions = ['0.10', '1250.50', '-97.0', '1e400', '1E-400', '100.00', '-0.0', '9007199254740993.5', '0'];
const decimals = ['0', '-0', '7', '-1250.50', '9007199254740993.10', '00.1'];
const dates = ['2026-11-20', '2028-02-29', '2000-02-29', '0001-01-01', '9999-12-31'];
const wholes = ['0', '-0', '7', '9007199254740993', '9223372036854775809', '123456789012345678901234567890', '1e400'];
/** Names that mean something to JavaScript, or nothing. */
const otherNames = ['note', '__proto__', 'constructor', 'toString', '2', '1', '', 'é😀', 'a/b~c', '\ud800'];

export function aGuid(dice: Dice): string {
  const hex = Array.from({ length: 4 }, () =>
    dice
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ).join('');
  const guid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return dice.oneIn(6) ? guid.toUpperCase() : guid;
}

/** Written as it is, or with every UTF-16 unit escaped; a lone surrogate is never anything but an escape. */
export function aText(dice: Dice, text = dice.pick(texts)): Json {
  const escape = (unit: number) => String.raw`\u${text.charCodeAt(unit).toString(16).padStart(4, '0')}`;
  const isEscaped = dice.oneIn(3);
  const written = isEscaped ? `"${Array.from(text.split(''), (_, unit) => escape(unit)).join('')}"` : undefined;
  return { kind: 'text', written: written ?? JSON.stringify(text), sent: JSON.stringify(text) };
}

export function aNumber(dice: Dice): Json {
  return same(dice.oneIn(2) ? dice.pick([...fractions, ...wholes]) : `${dice.below(1e6)}.${dice.below(1e6)}`);
}

/** A moment at any offset, with up to nine fractional digits. `sent` has the digits of the interface, in UTC. */
export function aTimestamp(dice: Dice, digits: 3 | 6 = 3): Extract<Json, { kind: 'text' }> {
  const second = (dice.below(4_000_000_000) - 1_000_000_000) * 1_000;
  const fraction = Array.from({ length: dice.below(10) }, () => dice.below(10)).join('');
  const offset = dice.oneIn(2) ? 0 : dice.below(2_879) - 1_439;
  const local = new Date(second + offset * 60_000).toISOString().slice(0, 19);
  const sign = offset < 0 || (offset === 0 && dice.oneIn(4)) ? '-' : '+';
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [two(Math.trunc(Math.abs(offset) / 60)), two(Math.abs(offset) % 60)];
  const zone =
    offset === 0 && dice.oneIn(2) ? dice.pick(['Z', 'z']) : `${sign}${hours}${dice.pick([':', ''])}${minutes}`;
  const utc = new Date(second).toISOString().slice(0, 19);
  return {
    kind: 'text',
    written: `"${local}${fraction && `.${fraction}`}${zone}"`,
    sent: `"${utc}.${fraction.padEnd(6, '0').slice(0, digits)}+0000"`,
  };
}

/** Any JSON value, nested at most `depth` deep. */
export function anything(dice: Dice, depth = 3): Json {
  const choice = dice.below(depth > 0 ? 6 : 4);
  if (choice === 0) return aText(dice);
  if (choice === 1) return aNumber(dice);
  if (choice < 4) return same(dice.pick(['null', 'true', 'false']));
  if (choice === 4) return array(Array.from({ length: dice.below(4) }, () => anything(dice, depth - 1)));
  return object(otherEntries(dice, depth - 1));
}

/** Up to three members of names that no table has, each name once. */
export function otherEntries(dice: Dice, depth = 2): Entry[] {
  const names = dice.shuffled(otherNames).slice(0, dice.below(4));
  return names.map((name) => [name, anything(dice, depth)]);
}

/** A valid value: for a member that is not needed, now and then null. */
export function aValue([, kind, need]: Row, dice: Dice): Json {
  return need !== 'needed' && dice.oneIn(5) ? nothing : valueOf(kind, dice);
}

function valueOf(kind: Kind, dice: Dice): Json {
  switch (kind) {
    case 'guid':
      return quoted(aGuid(dice));
    case 'guids':
      return array(Array.from({ length: dice.below(4) + 1 }, () => quoted(aGuid(dice))));
    case 'text':
      return aText(dice);
    case 'text of at most 160':
      return aText(dice, dice.pick(['', 'x', '😀']).repeat(160 - dice.below(2)));
    case 'number':
      return aNumber(dice);
    case 'decimal':
      return dice.oneIn(2) ? aNumber(dice) : aText(dice, dice.pick(decimals));
    case 'whole number':
      return same(dice.pick([...wholes, '-10.0', '25e1']));
    case 'flag':
      return same(dice.pick(['true', 'false']));
    case 'true':
    case 'false':
      return same(kind);
    case 'date':
      return quoted(dice.pick(dates));
    case 'date-time':
      return same(aTimestamp(dice).written);
    case 'timestamp':
      return aTimestamp(dice);
    case 'object':
      return object(otherEntries(dice));
    case 'texts':
      return object(
        dice
          .shuffled(otherNames)
          .slice(0, 3)
          .map((name) => [name, aText(dice)]),
      );
    case 'cancellation reason':
      return quoted(dice.pick(cancellationReasons));
    case 'load request':
      return object(entriesOf(loadRequestRows, dice));
  }
}

/** Members by their table: the needed ones and most of the others, in any order. */
export function entriesOf(rows: readonly Row[], dice: Dice): Entry[] {
  const present = rows.filter(([, , need]) => need === 'needed' || !dice.oneIn(5));
  return dice.shuffled(present).map((row) => [row[0], aValue(row, dice)]);
}
