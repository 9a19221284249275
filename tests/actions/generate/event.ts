import { type ActionRow, ignorable, keyOf, type Party } from '../oracle/action-table.ts';
import { memberTables, neededLinks, openFamilies, type Row } from '../oracle/member-tables.ts';
import type { Dice } from './dice.ts';
import { type Entry, type Json, type JsonObject, nothing, object, quoted, setIn, valueIn } from './json.ts';
import { aRevision, type Change, type Revision } from './revision.ts';
import { aGuid, anything, aText, aTimestamp, entriesOf, otherEntries } from './values.ts';

/** A valid event, and what an oracle must know of it. */
export type GeneratedEvent = {
  /** The action by whose key upstream publishes it. */
  action: ActionRow;
  /** The name of an action in its body, where that is another. */
  saidName?: string;
  /** Whether it says `"ignored": true`. */
  isIgnored: boolean;
  guid: string;
  accounts: Readonly<Record<Party, string>>;
  /** Members of the envelope, `payload` among them, in any order. */
  envelope: JsonObject;
  payload: JsonObject;
  revision: Revision | null;
  /** How many members and parties the contract does not know. */
  unknownMembers: number;
};

/** In the order of `accounts`. */
export const parties: readonly Party[] = ['shipper', 'broker', 'carrier'];

export function anEvent(action: ActionRow, dice: Dice): GeneratedEvent {
  const [shipper, broker, carrier] = [aGuid(dice), aGuid(dice), aGuid(dice)];
  const accounts = { shipper, broker: dice.oneIn(10) ? shipper.toLowerCase() : broker, carrier };
  const { payload, revision, unknownMembers } = aPayload(action, dice);
  const guid = aGuid(dice);
  const strangers: Entry[] = dice.oneIn(10) ? [['agent', anything(dice, 1)]] : [];
  const unneeded = parties.filter((party) => !action.receivers.includes(party) && dice.oneIn(4));
  const named = parties.filter((party) => action.receivers.includes(party) || unneeded.includes(party));
  const envelope: Entry[] = [
    ['guid', quoted(guid)],
    ['interface', quoted(action.interface)],
    ['action', quoted(action.name)],
    ['occurred_at', aTimestamp(dice, action.interface === 'carrier' ? 6 : 3)],
    [
      'parties',
      object(dice.shuffled([...named.map((party): Entry => [party, quoted(accounts[party])]), ...strangers])),
    ],
    ['payload', payload],
  ];
  const isIgnored = mayBeIgnored(action) && dice.oneIn(2);
  if (isIgnored || dice.oneIn(6)) envelope.push(['ignored', { kind: 'text', written: `${isIgnored}`, sent: '' }]);
  if (dice.oneIn(3)) envelope.push(['error_message', dice.oneIn(3) ? nothing : aText(dice)]);
  const others = dice.oneIn(4) ? otherEntries(dice) : [];
  return {
    action,
    isIgnored,
    guid: guid.toLowerCase(),
    accounts,
    envelope: object(dice.shuffled([...envelope, ...others])),
    payload,
    revision,
    unknownMembers: unknownMembers + strangers.length + others.length,
  };
}

export function mayBeIgnored({ interface: interfaceName, name }: ActionRow): boolean {
  return interfaceName === 'shipper' && ignorable.includes(name.replace(/\.ignored$/, ''));
}

export const rowsOf = ({ family }: ActionRow): readonly Row[] => memberTables[family];

export const isOpen = ({ family }: ActionRow): boolean => openFamilies.includes(family);

function aPayload(action: ActionRow, dice: Dice): Pick<GeneratedEvent, 'payload' | 'revision' | 'unknownMembers'> {
  const members = entriesOf(rowsOf(action), dice);
  const others = dice.oneIn(3) ? otherEntries(dice) : [];
  if (dice.oneIn(10)) others.push(['deep', nestedTo(dice, 29)]);
  const payload = object(dice.shuffled([...members, ...others]));
  if (neededLinks[action.family] !== undefined && dice.oneIn(2)) makeLinks(action, payload, dice);
  const revision =
    changeOf(action) === null ? null : aRevision(changeOf(action) ?? 'modified', isVehicle(action), dice);
  if (revision !== null) payload.members.push(['revision', revision.json]);
  const request = action.family === 'load request' ? valueIn(payload, 'data') : undefined;
  const inRequest = request?.kind === 'object' && dice.oneIn(3) ? otherEntries(dice) : [];
  if (request?.kind === 'object') request.members.push(...inRequest);
  const unknown = (isOpen(action) ? 0 : others.length) + inRequest.length + (revision?.unknownMembers ?? 0);
  return { payload, revision, unknownMembers: unknown };
}

const isVehicle = (action: ActionRow) => action.family === 'vehicle revision';

function changeOf({ family, name }: ActionRow): Change | null {
  if (family !== 'order revision' && family !== 'vehicle revision') return null;
  if (name.endsWith('.created')) return 'created';
  return name.endsWith('.deleted') ? 'deleted' : 'modified';
}

function makeLinks({ family }: ActionRow, payload: JsonObject, dice: Dice): void {
  for (const link of neededLinks[family] ?? []) setIn(payload, link, aText(dice));
}

/** An array within an array, `levels` deep: with the body, the data of a CloudEvent and the payload around it, 32. */
function nestedTo(dice: Dice, levels: number): Json {
  let value = anything(dice, 0);
  for (let level = 0; level < levels; level += 1) value = { kind: 'array', items: [value] };
  return value;
}

/** The routing key, and the key of the action that subscribers know. */
export const publishedKey = ({ action }: GeneratedEvent): string => keyOf(action);
export const announcedName = ({ action, isIgnored }: GeneratedEvent): string =>
  isIgnored && !action.name.endsWith('.ignored') ? `${action.name}.ignored` : action.name;
