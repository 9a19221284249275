import { announcedName, type GeneratedEvent, isOpen, rowsOf } from '../generate/event.ts';
import { type Entry, isNull, type Json, object, same, sentText, valueIn } from '../generate/json.ts';
import { announcedPlaceOf, listedName, orderFields, vehicleFields } from './audit-fields.ts';
import { loadRequestRows, neededLinks, type Row } from './member-tables.ts';

export type Wanted = { auditFieldSet: readonly string[] | null; messageGuid: string };
export type Expected = { body: string } | { nothing: 'links_missing' | 'no_audited_change' };

/** Returns the body that one subscription must get, by the specifications alone. */
export function expectedOf(event: GeneratedEvent, wanted: Wanted): Expected {
  if (event.action.interface === 'carrier') return { body: sentText(object(carrierEntries(event, wanted))) };
  const links = neededLinks[event.action.family] ?? [];
  if (links.some((link) => isNone(valueIn(event.payload, link)))) return { nothing: 'links_missing' };
  const members = [...commonEntries(event), ...ownEntries(event)];
  if (event.revision === null || wanted.auditFieldSet === null) return { body: sentText(object(members)) };
  const data = changes(event, new Set(wanted.auditFieldSet.map(listedName)));
  if (event.revision.change === 'modified' && data.members.length === 0) return { nothing: 'no_audited_change' };
  const guid = valueIn(event.revision.json, 'guid');
  if (guid !== undefined) members.push(['revision_guid', guid]);
  return { body: sentText(object([...members, ...event.revision.actor, ['data', data]])) };
}

function commonEntries(event: GeneratedEvent): Entry[] {
  return [
    ['action', same(`"${announcedName(event)}"`)],
    ['action_date', momentOf(event)],
    ['error_message', valueIn(event.envelope, 'error_message') ?? same('null')],
  ];
}

function carrierEntries(event: GeneratedEvent, { messageGuid }: Wanted): Entry[] {
  return [
    ['action', same(`"${announcedName(event)}"`)],
    ['guid', same(`"${messageGuid}"`)],
    ['occurred_at', momentOf(event)],
    ['data', object(ownEntries(event))],
  ];
}

/** No link: missing, null, or empty. */
const isNone = (link: Json | undefined): boolean => isNull(link) || (link?.kind === 'text' && link.sent === '""');

const momentOf = (event: GeneratedEvent): Json => valueIn(event.envelope, 'occurred_at') ?? same('null');

/** The members of the table, in its order; in an open family then all others, as they came. */
function ownEntries({ action, payload }: GeneratedEvent): Entry[] {
  const rows = rowsOf(action);
  const listed = listedIn(payload.members, rows);
  if (!isOpen(action)) return listed;
  return [...listed, ...payload.members.filter(([name]) => !rows.some(([each]) => each === name))];
}

function listedIn(members: readonly Entry[], rows: readonly Row[]): Entry[] {
  return rows.flatMap(([name, kind, need]): Entry[] => {
    const value = members.find(([each]) => each === name)?.[1];
    if (value === undefined || (isNull(value) && need !== 'or null')) return [];
    const isRequest = kind === 'load request' && value.kind === 'object';
    return [[name, isRequest ? object(listedIn(value.members, loadRequestRows)) : value]];
  });
}

/** `data` of the revision form: fields in the order of their list, objects where their first field stands. */
function changes({ action, revision }: GeneratedEvent, wanted: ReadonlySet<string>) {
  const data = object([]);
  for (const field of action.family === 'vehicle revision' ? vehicleFields : orderFields) {
    if (!wanted.has(field)) continue;
    for (const { within, before, after } of revision?.leaves.get(field) ?? []) {
      const value = object([
        ['old_value', same(before)],
        ['new_value', same(after)],
      ]);
      put(data, [...announcedPlaceOf(field), ...within], value);
    }
  }
  return data;
}

function put(into: ReturnType<typeof object>, [name = '', ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) return void into.members.push([name, value]);
  let holder = valueIn(into, name);
  if (holder?.kind !== 'object') into.members.push([name, (holder = object([]))]);
  if (holder.kind === 'object') put(holder, rest, value);
}
