import { ignorable } from '../oracle/action-table.ts';
import { loadRequestRows } from '../oracle/member-tables.ts';
import type { Dice } from './dice.ts';
import { type GeneratedEvent, isOpen, mayBeIgnored, rowsOf } from './event.ts';
import { array, type Json, type JsonObject, nothing, object, quoted, same, setIn, valueIn } from './json.ts';
import { aText } from './values.ts';
import { noGuid, noObject, noTimestamp, wrongValue } from './wrong-values.ts';

/** How the event must be rejected; `place` is a JSON pointer into the envelope. */
export type Fault = { reason: string; place: string; mayBeDeeper?: true };

/** Breaks an event in one place. Null where it cannot: the event is whole then. */
export type Break = (event: GeneratedEvent, dice: Dice) => Fault | null;

const invalidPayload = (place: string): Fault => ({ reason: 'payload_invalid', place: `/payload${place}` });
const invalidEnvelope = (place: string): Fault => ({ reason: 'envelope_invalid', place });

/** Every way of breaking the contract within the JSON of an event. */
export const faults: Readonly<Record<string, Break>> = {
  'a needed member is missing': ({ action, payload }, dice) => {
    const needed = rowsOf(action).filter(([, , need]) => need === 'needed');
    if (needed.length === 0) return null;
    const [name] = dice.pick(needed);
    setIn(payload, name, undefined);
    return invalidPayload(`/${name}`);
  },
  'a member is of the wrong type, or outside its list': ({ action, payload }, dice) => {
    if (rowsOf(action).length === 0) return null;
    const row = dice.pick(rowsOf(action));
    const { value, within } = wrongValue(row, dice);
    setIn(payload, row[0], value);
    return invalidPayload(`/${row[0]}${within}`);
  },
  'a member of a load request is missing or wrong': ({ payload }, dice) => {
    const request = valueIn(payload, 'data');
    if (request?.kind !== 'object' || valueIn(request, 'carrier_guid') === undefined) return null;
    const row = dice.pick(loadRequestRows);
    const isTakenAway = row[2] === 'needed' && dice.oneIn(2);
    setIn(request, row[0], isTakenAway ? undefined : wrongValue(row, dice).value);
    return invalidPayload(`/data/${row[0]}`);
  },
  'the comment of a load request is too long': ({ action, payload }, dice) => {
    const request = valueIn(payload, 'data');
    if (action.family !== 'load request' || request?.kind !== 'object') return null;
    setIn(request, 'carrier_comment', aText(dice, dice.pick(['x', '😀', '\ud800']).repeat(161)));
    return invalidPayload('/data/carrier_comment');
  },
  'a member sent on as it came has a name of the notification': ({ action, payload }, dice) => {
    if (!isOpen(action) || action.interface === 'carrier') return null;
    const name = dice.pick(['action', 'action_date', 'error_message']);
    setIn(payload, name, dice.oneIn(3) ? nothing : aText(dice));
    return invalidPayload(`/${name}`);
  },
  'the revision is missing, or no object': ({ revision, payload }, dice) => {
    if (revision === null) return null;
    setIn(payload, 'revision', dice.oneIn(2) ? undefined : dice.pick([nothing, noObject(dice)]));
    return invalidPayload('/revision');
  },
  'a side of the revision is missing, or no object': ({ revision }, dice) => {
    if (revision === null) return null;
    const sides = { created: ['after'], modified: ['before', 'after'], deleted: ['before'] }[revision.change];
    const side = dice.pick(sides);
    setIn(revision.json, side, dice.oneIn(2) ? undefined : dice.pick([nothing, noObject(dice)]));
    return invalidPayload(`/revision/${side}`);
  },
  'what holds fields is no object': ({ action, revision }, dice) => {
    if (revision === null || action.family !== 'order revision') return null;
    const side = valueIn(revision.json, 'after');
    if (side?.kind !== 'object') return null;
    const name = dice.pick(['customer', 'payment', 'customer_payment', 'pickup', 'delivery']);
    setIn(side, name, noObject(dice));
    return invalidPayload(`/revision/after/${name}`);
  },
  'a user and a carrier made the change': ({ revision }) => {
    if (revision === null) return null;
    setIn(revision.json, 'user_guid', quoted('77777777-7777-4777-8777-777777777777'));
    setIn(revision.json, 'carrier', object([['guid', quoted('55555555-5555-4555-8555-555555555555')]]));
    return invalidPayload('/revision');
  },
  'who made the change has no guid': ({ revision }, dice) => {
    if (revision === null) return null;
    const name = dice.pick(['guid', 'user_guid']);
    setIn(revision.json, 'carrier', undefined);
    setIn(revision.json, name, noGuid(dice));
    return invalidPayload(`/revision/${name}`);
  },
  'the revision, or the carrier that made it, has no guid': ({ revision }, dice) => {
    if (revision === null) return null;
    const carrier = valueIn(revision.json, 'carrier');
    const [holder, place] = carrier?.kind === 'object' ? [carrier, '/revision/carrier'] : [revision.json, '/revision'];
    setIn(holder, 'guid', dice.oneIn(2) ? undefined : nothing);
    return invalidPayload(`${place}/guid`);
  },
  'the payload is missing, or no object': ({ envelope }, dice) => {
    setIn(envelope, 'payload', dice.oneIn(2) ? undefined : dice.pick([nothing, noObject(dice)]));
    return invalidPayload('');
  },
  'a needed party is missing, or no guid': ({ action, envelope }, dice) => {
    const parties = valueIn(envelope, 'parties');
    if (parties?.kind !== 'object') return null;
    const party = dice.pick(action.receivers);
    setIn(parties, party, dice.oneIn(2) ? undefined : dice.pick([nothing, noGuid(dice)]));
    return { reason: 'party_missing', place: `/parties/${party}` };
  },
  'the parties are missing, or no object': ({ envelope }, dice) => {
    setIn(envelope, 'parties', dice.oneIn(2) ? undefined : noObject(dice));
    return invalidEnvelope('/parties');
  },
  'the guid is missing, or none': ({ envelope }, dice) => {
    setIn(envelope, 'guid', dice.oneIn(2) ? undefined : dice.pick([nothing, noGuid(dice)]));
    return invalidEnvelope('/guid');
  },
  'the moment is missing, or none': ({ envelope }, dice) => {
    setIn(envelope, 'occurred_at', dice.oneIn(2) ? undefined : dice.pick([nothing, noTimestamp(dice)]));
    return invalidEnvelope('/occurred_at');
  },
  'the error_message is no text': ({ envelope }, dice) => {
    setIn(envelope, 'error_message', same(dice.pick(['7', 'true', '[]', '{}'])));
    return invalidEnvelope('/error_message');
  },
  'ignored on an action without that variant': ({ action, envelope }) => {
    if (mayBeIgnored(action)) return null;
    setIn(envelope, 'ignored', same('true'));
    return { reason: 'not_ignorable', place: '/ignored' };
  },
  'ignored is no flag': ({ action, envelope }, dice) => {
    if (!mayBeIgnored(action)) return null;
    setIn(envelope, 'ignored', same(dice.pick(['null', '1', '"true"', '{}'])));
    return invalidEnvelope('/ignored');
  },
  'no such action': (event, dice) => {
    const { action, envelope } = event;
    const misspelled = [`${action.name}d`, action.name.toUpperCase(), `${action.name} `, '__proto__', ''];
    const name = dice.pick(ignorable.includes(action.name) ? misspelled : [...misspelled, `${action.name}.ignored`]);
    // A CloudEvent takes the action from here too.
    event.saidName = name;
    setIn(envelope, 'action', quoted(name));
    return { reason: 'unknown_action', place: '/action' };
  },
  'a name is there twice': ({ payload }, dice) => {
    const { holder, place } = somewhere(payload, dice);
    const name = dice.pick(['twice', '__proto__', 'é', 'a/b~c']);
    holder.members.push([name, same('1')], [name, same(dice.pick(['1', '2']))]);
    return { reason: 'duplicate_key', place: `${place}/${name.replace('~', '~0').replace('/', '~1')}` };
  },
  'a NUL in a text': ({ payload }, dice) => nulIn(payload, dice),
  'nesting deeper than 32': ({ payload }, dice) => {
    const { holder, place } = somewhere(payload, dice);
    holder.members.push(['deeper', dice.oneIn(2) ? nestedTo(40) : same('['.repeat(100_000))]);
    return { reason: 'too_deep', place: `${place}/deeper/0/0/0/0/0/0/0/0/0/0/0/0`, mayBeDeeper: true };
  },
  'a NUL in a name': ({ payload }, dice) => {
    const { holder, place } = somewhere(payload, dice);
    // A name is always written well: this one comes with the value before it.
    holder.members.push(['before', same(`1,"${dice.pick(['\0', String.raw`a\u0000`])}":2`)]);
    return { reason: 'nul_in_string', place };
  },
  'no JSON': ({ payload }, dice) => {
    const { holder, place } = somewhere(payload, dice);
    holder.members.push([
      'broken',
      same(
        dice.pick([
          '',
          'tru',
          '01',
          '+1',
          '1.',
          '.5',
          'NaN',
          "'a'",
          String.raw`"\x"`,
          '"\u0001"',
          '[1,]',
          '{"a"}',
          '"open',
        ]),
      ),
    ]);
    return { reason: 'not_json', place: `${place}/broken`, mayBeDeeper: true };
  },
};

function nulIn(payload: JsonObject, dice: Dice): Fault {
  const { holder, place } = somewhere(payload, dice);
  const nul = dice.pick(['\0', String.raw`\u0000`]);
  const text: Json = { kind: 'text', written: `"${dice.pick(['', 'a', String.raw`\n`])}${nul}"`, sent: '' };
  holder.members.push(['nul', text]);
  return { reason: 'nul_in_string', place: `${place}/nul` };
}

/** The payload, or an object in a list in it that was not there before. */
function somewhere(payload: JsonObject, dice: Dice): { holder: JsonObject; place: string } {
  if (dice.oneIn(2)) return { holder: payload, place: '/payload' };
  const holder = object([['x', array([])]]);
  payload.members.push(['inner', array([nothing, holder])]);
  return { holder, place: '/payload/inner/1' };
}

function nestedTo(levels: number): Json {
  return same('['.repeat(levels) + ']'.repeat(levels));
}
