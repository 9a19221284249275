import type { JsonSchema } from '@waybell/catalog/action';
import { DECIMAL } from '@waybell/catalog/members';

type MembersSchema = { properties?: Readonly<Record<string, JsonSchema>>; required?: readonly string[] };

/** A Markdown table of the members of a notification, in the order in which they are sent. */
export function membersTable(schema: JsonSchema): string[] {
  return ['| Member | Type | Always there | Meaning |', '|---|---|---|---|', ...rowsOf(schema, '')];
}

function rowsOf(schema: MembersSchema, prefix: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const isRequired = schema.required?.includes(name) ? 'yes' : 'no';
    const { description } = member;
    const meaning = typeof description === 'string' ? description : (MEANINGS[name] ?? '');
    const row = `| \`${prefix}${name}\` | ${typeOf(member)} | ${isRequired} | ${meaning} |`;
    return [row, ...(isChanges(member) ? [] : rowsOf(member, `${prefix}${name}.`))];
  });
}

/** Meanings of members that every notification has, or every one in the revision form. */
const MEANINGS: Record<string, string | undefined> = {
  action: 'the action',
  action_date: 'when it happened, UTC',
  occurred_at: 'when it happened, UTC',
  error_message: 'text of an error, where a previous action failed',
  revision_guid: 'the revision that caused the event',
  user_guid: 'the user who made the change, if one did',
  carrier_phone: 'of the carrier who made the change, if one did',
  carrier_name: 'likewise',
  carrier_contact_name: 'likewise',
  carrier_email: 'likewise',
  carrier_guid: 'likewise',
};

/** The list of audit fields documents the changes. */
function isChanges({ description }: JsonSchema): boolean {
  return typeof description === 'string' && description.includes('{old_value, new_value}');
}

function typeOf(schema: JsonSchema): string {
  if ('const' in schema) return `\`${JSON.stringify(schema['const'])}\``;
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  if (Array.isArray(schema['anyOf'])) return schema['anyOf'].map(typeOf).join(' or ');
  if (schema['pattern'] === DECIMAL) return 'number or decimal string';
  if (typeof schema['pattern'] === 'string') return timestampType(schema['pattern']);
  const types = [schema['type']].flat().map((type) => typeNameOf(String(type), schema));
  return types.join(' or ');
}

function typeNameOf(type: string, schema: JsonSchema): string {
  const format = type === 'string' ? FORMATS[String(schema['format'])] : undefined;
  if (format !== undefined) return format;
  if (type === 'string' && typeof schema['maxLength'] === 'number') {
    return `string of at most ${schema['maxLength']} characters`;
  }
  // An array here is always one of something named.
  if (type === 'array') return `array of ${typeOf(schema['items'] as JsonSchema)}`;
  return type;
}

const FORMATS: Record<string, string | undefined> = {
  uuid: 'guid',
  date: 'date, yyyy-mm-dd',
  'date-time': 'date-time',
};

function timestampType(pattern: string): string {
  return pattern.includes('{6}') ? 'timestamp, microseconds' : 'timestamp, milliseconds';
}
