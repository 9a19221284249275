import { orderFields, otherName, placeOf, vehicleFields } from '../oracle/audit-fields.ts';
import type { Dice } from './dice.ts';
import {
  array,
  isNull,
  type Entry,
  type Json,
  type JsonObject,
  nothing,
  object,
  quoted,
  same,
  sentText,
} from './json.ts';
import { aGuid, aNumber, aText } from './values.ts';

export type Change = 'created' | 'modified' | 'deleted';

/** A leaf that differs: where it lies within its field, and its two values as they must be sent. */
export type Leaf = { within: readonly string[]; before: string; after: string };

export type Revision = {
  change: Change;
  /** The member `revision` of the payload. */
  json: JsonObject;
  /** The author of the change, as it must be announced. */
  actor: Entry[];
  /** Changed leaves, by field. */
  leaves: ReadonlyMap<string, readonly Leaf[]>;
  unknownMembers: number;
};

type Sides = { before: Json | undefined; after: Json | undefined; leaves: Leaf[] };

/** The same value, spelled twice. */
const respelled = [
  ['100.0', '100'],
  ['1e2', '100.00'],
  ['0.10', '0.1'],
  ['0', '-0.0'],
  ['1e400', '10E+399'],
  ['[1.0,{"a":null}]', '[1,{}]'],
];
const different = [
  ['9007199254740992', '9007199254740993'],
  ['100', '"100"'],
  ['1e400', '1e401'],
  ['0', 'false'],
  ['""', '[]'],
  ['[1,2]', '[2,1]'],
  ['[1]', '[1,null]'],
  ['{"amount":1}', '5'],
  ['"a"', '"b"'],
];

export function aRevision(change: Change, isVehicle: boolean, dice: Dice): Revision {
  const sides = new Map<string, Sides>();
  const share = dice.pick([2, 4, 20]);
  for (const field of isVehicle ? vehicleFields : orderFields) {
    if (dice.oneIn(share)) sides.set(field, sidesOf(change, dice));
  }
  const actor = anActor(dice);
  const guid: Entry = ['guid', quoted(aGuid(dice))];
  const before = nested(sides, 'before', dice);
  const after = nested(sides, 'after', dice);
  const members: Entry[] = [guid, ...actor.written];
  if (change !== 'created') members.push(['before', before]);
  if (change !== 'deleted') members.push(['after', after]);
  const superfluous = change !== 'modified' && dice.oneIn(4) ? 1 : 0;
  if (superfluous > 0) members.push([change === 'created' ? 'before' : 'after', change === 'created' ? before : after]);
  return {
    change,
    json: object(dice.shuffled(members)),
    actor: actor.sent,
    leaves: new Map([...sides].map(([field, { leaves }]) => [field, leaves])),
    unknownMembers: superfluous,
  };
}

function sidesOf(change: Change, dice: Dice): Sides {
  if (change === 'modified') return aDifference(dice);
  const { value, leaves } = aLoneValue(dice);
  return change === 'created'
    ? { before: undefined, after: value, leaves }
    : {
        before: value,
        after: undefined,
        leaves: leaves.map(({ within, after }) => ({ within, before: after, after: 'null' })),
      };
}

/** A value that was not there before. */
function aLoneValue(dice: Dice): { value: Json; leaves: Leaf[] } {
  if (dice.oneIn(4)) return { value: nothing, leaves: [] };
  if (dice.oneIn(6)) {
    const [one, other] = [aNumber(dice), aText(dice)];
    const value = object([
      ['amount', one],
      ['empty', nothing],
      ['of', object([['__proto__', other]])],
    ]);
    return { value, leaves: [appears(['amount'], one), appears(['of', '__proto__'], other)] };
  }
  const value = aScalar(dice);
  return { value, leaves: [appears([], value)] };
}

const appears = (within: string[], value: Json): Leaf => ({ within, before: 'null', after: sentText(value) });

function aScalar(dice: Dice): Json {
  const list = array([aNumber(dice), nothing, object([['a', aText(dice)]])]);
  return dice.pick([aNumber(dice), aText(dice), same('true'), array([]), list]);
}

function aDifference(dice: Dice): Sides {
  switch (dice.below(6)) {
    case 0: {
      const [before = '', after = ''] = dice.shuffled(dice.pick(respelled));
      return { before: same(before), after: same(after), leaves: [] };
    }
    case 1: {
      const value = aScalar(dice);
      return { before: value, after: value, leaves: [] };
    }
    case 2: {
      const [before = '', after = ''] = dice.shuffled(dice.pick(different));
      return { before: same(before), after: same(after), leaves: [{ within: [], before, after }] };
    }
    case 3: {
      const { value, leaves } = aLoneValue(dice);
      return {
        before: dice.pick([undefined, nothing, object([])].slice(0, isObject(value) ? 3 : 2)),
        after: value,
        leaves,
      };
    }
    case 4: {
      const { value, leaves } = aLoneValue(dice);
      const vanish = leaves.map(({ within, after }) => ({ within, before: after, after: 'null' }));
      return { before: value, after: dice.pick([undefined, nothing]), leaves: vanish };
    }
    default: {
      const [before = '', after = ''] = dice.pick(different);
      const inner = (text: string) =>
        object([
          ['kept', same('1.0')],
          ['changed', same(text)],
        ]);
      return { before: inner(before), after: inner(after), leaves: [{ within: ['changed'], before, after }] };
    }
  }
}

const isObject = (json: Json) => json.kind === 'object';

/** One side, in the shape of the order. What holds no field is now and then null. */
function nested(sides: ReadonlyMap<string, Sides>, side: 'before' | 'after', dice: Dice): JsonObject {
  const order = object([]);
  for (const [field, values] of sides) {
    const value = values[side];
    if (value === undefined) continue;
    const names = placeOf(field);
    let holder = order;
    for (const name of names.slice(0, -1)) holder = holderIn(holder, name);
    const name = names.at(-1) ?? '';
    holder.members.push([dice.oneIn(2) ? name : otherName(name), value]);
  }
  for (const name of ['pickup', 'customer']) {
    const isFree = !order.members.some(([each]) => each === name);
    if (isFree && [...sides.keys()].some((field) => field.startsWith(name)) && dice.oneIn(2)) {
      order.members.push([name, dice.oneIn(2) ? nothing : object([])]);
    }
  }
  order.members = dice.shuffled(order.members);
  return order;
}

function holderIn(holder: JsonObject, name: string): JsonObject {
  const found = holder.members.find(([each]) => each === name)?.[1];
  if (found?.kind === 'object') return found;
  const made = object([]);
  holder.members.push([name, made]);
  return made;
}

/** A user, a carrier (some of it), or neither; what is null is left out. */
function anActor(dice: Dice): { written: Entry[]; sent: Entry[] } {
  const user: Entry = ['user_guid', dice.oneIn(4) ? nothing : quoted(aGuid(dice))];
  if (dice.oneIn(3)) return { written: [], sent: [] };
  if (dice.oneIn(2))
    return {
      written: [user, ...(dice.oneIn(2) ? [['carrier', nothing] satisfies Entry] : [])],
      sent: isNull(user[1]) ? [] : [user],
    };
  const names = ['phone', 'name', 'contact_name', 'email'].filter(() => !dice.oneIn(4));
  const carrier: Entry[] = [
    ...names.map((name): Entry => [name, dice.oneIn(5) ? nothing : aText(dice)]),
    ['guid', quoted(aGuid(dice))],
  ];
  const others: Entry[] = isNull(user[1]) ? [user] : [];
  return {
    written: [...others, ['carrier', object(dice.shuffled(carrier))]],
    sent: carrier.filter(([, value]) => !isNull(value)).map(([name, value]) => [`carrier_${name}`, value]),
  };
}
