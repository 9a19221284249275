/** The pages of the reference: an index of all actions, and for each family its notifications with their members. */
import type { Action, JsonSchema } from '@waybell/catalog/action';
import { actionKey } from '@waybell/catalog/actions';
import { DECIMAL } from '@waybell/catalog/members';
import { notificationSchema, revisionNotificationSchema } from '@waybell/catalog/schemas';
import { families, type Family } from './families.ts';
import type { SentExamples } from './sent-examples.ts';

/** The page that leads to every action. */
export function indexPage(): string {
  return [
    '# Reference',
    '',
    'Every action of both interfaces. A client subscribes to each action by its name; [receiving.md](../receiving.md) says how callbacks come,',
    '[publishing.md](../publishing.md) how events do. For machines: [openapi.json](../openapi.json) (endpoints, and notifications as webhooks),',
    '[asyncapi.json](../asyncapi.json) (events), [schemas](../schemas/). A running API serves all three, and a page at `/docs`.',
    '',
    'A *timestamp* is UTC with the offset `+0000`: `2026-11-20T09:30:00.123+0000` in milliseconds, `2026-11-20T09:30:00.123456+0000` in',
    'microseconds. Other dates come as the platform wrote them. A member that is not always there may be absent or null. These pages are',
    'made from the catalog: `./waybell docs` writes them.',
    '',
    ...families.flatMap(familyTable),
  ].join('\n');
}

function familyTable({ name, title, actions }: Family): string[] {
  const rows = actions.map((action) => {
    const { description, receivers, feature } = action;
    const link = `[\`${action.name}\`](${name}.md#${anchorOf(action)})`;
    return `| ${link} | ${description} | ${receivers.join(', ')} | ${feature ?? ''} |`;
  });
  return [`## ${title}`, '', '| Action | Sent when | Receivers | Feature |', '|---|---|---|---|', ...rows, ''];
}

/** A page about the actions of one family. */
export function familyPage({ title, actions }: Family, sentExamples: SentExamples): string {
  return [
    `# ${title}`,
    '',
    'Examples are exactly what is sent. This page is made from the catalog: `./waybell docs` writes it. All actions: [README.md](README.md).',
    '',
    ...actions.flatMap((action) => actionChapter(action, sentExamples)),
  ].join('\n');
}

/** The anchor of an action on its page. */
function anchorOf({ name }: Action): string {
  return name.replaceAll('.', '');
}

function actionChapter(action: Action, sentExamples: SentExamples): string[] {
  const bodyOf = (form: string) => sentExamples[actionKey(action)]?.find((sent) => sent.form === form)?.body ?? '';
  const revision = revisionNotificationSchema(action);
  return [
    `## ${action.name}`,
    '',
    ...facts(action),
    '',
    ...(revision === null ? [] : ['Plain form, subscribed without `audit_field_set`:', '']),
    ...membersTable(notificationSchema(action)),
    '',
    ...jsonBlock(bodyOf('plain')),
    ...(revision === null ? [] : revisionForm(action, { table: membersTable(revision), body: bodyOf('revision') })),
  ];
}

function facts({ description, receivers, feature, deprecated, payload, ...action }: Action): string[] {
  const links = payload.kind === 'listed' ? (payload.links ?? []) : [];
  return [
    `- **Sent when** ${description}.`,
    `- **Received by** ${receivers.join(' and ')}.`,
    `- **Needs** ${feature === undefined ? 'no feature' : `the account feature \`${feature}\``}.`,
    ...(deprecated === undefined ? [] : [`- **Deprecated** since ${deprecated.since}, until ${deprecated.sunset}.`]),
    ...(links.length === 0 ? [] : [`- **Only when** all of ${links.map(code).join(', ')} are available.`]),
    ...(payload.kind === 'open' ? ['- **Also** whatever else the event carries, as it came.'] : []),
    ...(action.ignorable === true
      ? [`- **Ignored** updates are announced as \`${action.name}.ignored\` instead, an action of its own.`]
      : []),
    `- **Schemas** [event](../schemas/${actionKey(action)}.event.json), [notification](../schemas/${actionKey(action)}.notification.json).`,
  ];
}

function revisionForm({ auditFields = [], payload }: Action, form: { table: string[]; body: string }): string[] {
  const isModified = payload.kind === 'revision' && payload.revision.change === 'modified';
  const rule = isModified
    ? 'Sent only when at least one of the fields subscribed to changed.'
    : 'Sent even when `audit_field_set` is empty.';
  return [
    `Revision form, subscribed with \`audit_field_set\`, here with all of its fields. ${rule}`,
    '',
    ...form.table,
    '',
    ...jsonBlock(form.body),
    `\`audit_field_set\` may hold: ${auditFields.map(code).join(', ')}.${spellings(auditFields)}`,
    '',
  ];
}

/** Notes that a field goes by two names. */
function spellings(fields: readonly string[]): string {
  const known = fields.filter((field) => field.endsWith('.schedule_at_by_carrier'));
  return known.length === 0
    ? ''
    : ` \`schedule_at_by_carrier\` may be written \`scheduled_at_by_carrier\`, as in \`data\`.`;
}

function jsonBlock(body: string): string[] {
  return ['```json', body, '```', ''];
}

const code = (text: string) => `\`${text}\``;

type MembersSchema = { properties?: Readonly<Record<string, JsonSchema>>; required?: readonly string[] };

/** A Markdown table of the members of a notification, in the order in which they are sent. */
function membersTable(schema: JsonSchema): string[] {
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
