import type { Action, JsonSchema } from './action.ts';
import { acceptedSchema, objectSchema } from './members.ts';

const guid = { type: 'string', format: 'uuid' };
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
      guid,
      interface: { const: action.interface },
      action: { const: action.name },
      occurred_at: { type: 'string', format: 'date-time' },
      parties: {
        type: 'object',
        required: action.receivers,
        properties: Object.fromEntries(action.receivers.map((party) => [party, guid])),
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
