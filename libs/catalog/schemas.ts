/** JSON Schemas that follow from the catalog: of events, as upstream publishes them, and of notifications, as receivers get them. */
import type { Action, AuditNode, JsonSchema, PayloadMember } from './action.ts';
import { acceptedSchema, objectSchema, orNull, required } from './members.ts';

const guidSchema = { type: 'string', format: 'uuid' };
/** Common fields of a notification, which no member that is sent on as it came may overwrite. */
const reserved = { action: false, action_date: false, error_message: false };

/** Members of an event's envelope. */
export const envelopeNames: readonly string[] = [
  'guid',
  'interface',
  'action',
  'occurred_at',
  'parties',
  'ignored',
  'error_message',
  'payload',
];

/**
 * The JSON Schema (2020-12) of an event of this action, as upstream publishes it. `date-time` is RFC 3339 with up to
 * nine fractional digits, an offset without a colon included. Members it does not name are let through.
 */
export function eventSchema(action: Action): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `${action.interface} ${action.name}`,
    description: `Published when ${action.description}.`,
    type: 'object',
    required: ['guid', 'interface', 'action', 'occurred_at', 'parties', 'payload'],
    properties: {
      guid: guidSchema,
      interface: { const: action.interface },
      action: { const: action.name },
      occurred_at: { type: 'string', format: 'date-time' },
      parties: {
        type: 'object',
        required: action.receivers,
        properties: Object.fromEntries(action.receivers.map((party) => [party, guidSchema])),
      },
      ignored: action.ignorable || action.name.endsWith('.ignored') ? { type: 'boolean' } : { const: false },
      error_message: { type: ['string', 'null'] },
      payload: payloadSchema(action),
    },
  };
}

/** The JSON Schema of the payload alone. */
export function payloadSchema({ payload }: Action): JsonSchema {
  if (payload.kind === 'revision') return objectSchema([...payload.members, payload.revision.member], acceptedSchema);
  const schema = objectSchema(payload.members ?? [], acceptedSchema);
  return payload.kind === 'open' ? { ...schema, properties: { ...schema.properties, ...reserved } } : schema;
}

const milliseconds = { type: 'string', pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$` };
const microseconds = { type: 'string', pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+0000$` };

/** The JSON Schema (2020-12) of the action's notification; of its plain form, where it has two. */
export function notificationSchema(action: Action): JsonSchema {
  return { ...heading(action), ...(action.interface === 'carrier' ? carrierSchema(action) : shipperSchema(action)) };
}

/** The same of the revision form. Null where the action has none. */
export function revisionNotificationSchema(action: Action): JsonSchema | null {
  if (action.payload.kind !== 'revision') return null;
  const { members, revision } = action.payload;
  const guid = { type: 'string', format: 'uuid' };
  const text = { type: 'string' };
  const schema = closed([...commonMembers(action), ...members, always('revision_guid', guid)]);
  return {
    ...heading(action),
    ...schema,
    required: [...schema.required, 'data'],
    properties: {
      ...schema.properties,
      user_guid: guid,
      carrier_phone: text,
      carrier_name: text,
      carrier_contact_name: text,
      carrier_email: text,
      carrier_guid: guid,
      data: changesSchema(revision.auditTree),
    },
  };
}

const heading = ({ interface: interfaceName, name, description }: Action) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: `${interfaceName} ${name}`,
  description: `Sent when ${description}.`,
});

function shipperSchema(action: Action): JsonSchema {
  const { payload } = action;
  const links = payload.kind === 'listed' ? (payload.links ?? []) : [];
  const own = (payload.members ?? []).map((member) => (links.includes(member.name) ? link(member) : member));
  const members = [...commonMembers(action), ...own];
  return payload.kind === 'open' ? objectSchema(members, announcedSchema) : closed(members);
}

function carrierSchema({ name, payload }: Action): JsonSchema {
  return closed([
    always('action', { const: name }),
    always('guid', { type: 'string', format: 'uuid', description: 'the message' }),
    always('occurred_at', microseconds),
    always('data', payload.members === null ? { type: 'object' } : closed(payload.members)),
  ]);
}

const always = (name: string, schema: JsonSchema): PayloadMember => ({ name, schema, isRequired: true });

const commonMembers = (action: Action): PayloadMember[] => [
  always('action', { const: action.name }),
  always('action_date', milliseconds),
  always('error_message', { type: ['string', 'null'] }),
];

/** An announced object has all its links. */
const link = (member: PayloadMember): PayloadMember =>
  required({ ...member, schema: { ...member.schema, minLength: 1 } });

/** An object with these members and no others. */
function closed(members: readonly PayloadMember[]) {
  return { ...objectSchema(members, announcedSchema), additionalProperties: false };
}

function announcedSchema({ schema, members, isTimestamp, isNullable }: PayloadMember): JsonSchema {
  const { description } = schema;
  const own =
    members === undefined
      ? isTimestamp
        ? { ...milliseconds, description }
        : schema
      : { ...schema, ...closed(members) };
  return isNullable === true ? orNull(own) : own;
}

function changesSchema(nodes: readonly AuditNode[]): JsonSchema {
  const schemaOf = (node: AuditNode) => (node.field === null ? changesSchema(node.nodes) : { type: 'object' });
  return {
    type: 'object',
    description: 'each changed field as {old_value, new_value}',
    properties: Object.fromEntries(nodes.map((node) => [node.announcedAs, schemaOf(node)])),
    additionalProperties: false,
  };
}
