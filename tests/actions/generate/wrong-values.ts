import type { Kind, Row } from '../oracle/member-tables.ts';
import type { Dice } from './dice.ts';
import { array, type Json, nothing, object, quoted, same } from './json.ts';
import { aGuid } from './values.ts';

/** A value that a member must not have, and where in it the fault lies. */
export type Wrong = { value: Json; within: string };

const flags = ['true', 'false'];
const numbers = ['0', '7', '1e400'];
const strings = ['"x"', '""', '"7"', '"true"', '"null"'];
const holders = ['[]', '{}', '[null]', '{"a":1}'];
const objects = ['{}', '{"a":1}'];

const noGuids = [
  '',
  'x',
  '11111111-1111-4111-8111-11111111111',
  '11111111-1111-4111-8111-1111111111111',
  '11111111111141118111111111111111',
  '{11111111-1111-4111-8111-111111111111}',
  'urn:uuid:11111111-1111-4111-8111-111111111111',
  '11111111-1111-4111-8111-11111111111g',
  ' 11111111-1111-4111-8111-111111111111',
];
const noDates = [
  '',
  'today',
  '20.11.2026',
  '2026-11-20T09:30:00Z',
  '2026-1-2',
  '2026-02-29',
  '2026-00-10',
  '2026-04-31',
  '2100-02-29',
  '+2026-11-20',
  '2026-11-20 ',
];
const noDecimals = ['', 'banana', '1,100.00', '$5', '1e3', '.5', '5.', '+5', '0x10', 'NaN', ' 5', '5\n', '--5'];
const noTimestamps = [
  '',
  'yesterday',
  '2026-11-20',
  '2026-11-20T09:30:00',
  '2026-11-20 09:30:00Z',
  '2026-02-30T09:30:00Z',
  '2026-13-01T09:30:00Z',
  '2026-11-20T24:00:00Z',
  '2026-11-20T09:30:60Z',
  '2026-11-20T09:30:00.1234567890Z',
  '2026-11-20T09:30:00+25:00',
  '2026-11-20T09:30:00+01',
];

export const noGuid = (dice: Dice): Json =>
  dice.oneIn(2) ? quoted(dice.pick(noGuids)) : same(dice.pick([...flags, ...numbers, ...holders]));
export const noTimestamp = (dice: Dice): Json =>
  dice.oneIn(2) ? quoted(dice.pick(noTimestamps)) : same(dice.pick([...flags, ...numbers, ...holders]));
export const noObject = (dice: Dice): Json => same(dice.pick([...flags, ...numbers, ...strings, '[]', '[{}]']));

/** A wrong value for a member of a table: of another type, outside its list, or null where it is needed. */
export function wrongValue([, kind, need]: Row, dice: Dice): Wrong {
  if (need === 'needed' && dice.oneIn(4)) return { value: nothing, within: '' };
  if (kind === 'guids' && dice.oneIn(2)) {
    return { value: array([quoted(aGuid(dice)), noGuid(dice)]), within: '/1' };
  }
  if (kind === 'texts' && dice.oneIn(2)) {
    return {
      value: object([['CHARGES_DUE', same(dice.pick([...numbers, ...flags, ...holders]))]]),
      within: '/CHARGES_DUE',
    };
  }
  return { value: wrongOf(kind, dice), within: '' };
}

function wrongOf(kind: Kind, dice: Dice): Json {
  switch (kind) {
    case 'guid':
      return noGuid(dice);
    case 'date':
      return dice.oneIn(2) ? quoted(dice.pick(noDates)) : same(dice.pick([...flags, ...numbers, ...holders]));
    case 'date-time':
    case 'timestamp':
      return noTimestamp(dice);
    case 'object':
    case 'texts':
    case 'load request':
      return noObject(dice);
    case 'guids':
      return same(dice.pick(['[]', ...flags, ...numbers, ...strings, ...objects]));
    case 'text':
    case 'text of at most 160':
      return same(dice.pick([...flags, ...numbers, ...holders]));
    case 'number':
      return same(dice.pick([...flags, ...strings, ...holders]));
    case 'decimal':
      return dice.oneIn(2) ? quoted(dice.pick(noDecimals)) : same(dice.pick([...flags, ...holders]));
    case 'whole number':
      return same(
        dice.pick(['0.5', '1e-400', '9007199254740993.5', '-1.0000000000000000000000001', ...flags, ...strings]),
      );
    case 'flag':
      return same(dice.pick([...numbers, ...strings, ...holders]));
    case 'true':
    case 'false':
      return same(dice.pick([kind === 'true' ? 'false' : 'true', ...numbers, ...strings, ...holders]));
    case 'cancellation reason':
      return same(
        dice.pick(['"ORDER_CANCELLED"', '"order_canceled"', '"VEHICLE_REMOVED "', ...strings, ...numbers, ...holders]),
      );
  }
}
