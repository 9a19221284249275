import type { Action, JsonSchema } from '@waybell/catalog/action';
import { actionKey } from '@waybell/catalog/actions';
import { eventSchema } from '@waybell/catalog/schemas';

/** The JSON Schema (2020-12) of an event of this action as a CloudEvent 1.0 in structured JSON. */
export function cloudEventSchema(action: Action): JsonSchema {
  const { $schema, title, description, properties } = eventSchema(action);
  // The schema of an event is an object's, so that it has properties.
  const { guid, occurred_at: time, parties, payload, ...rest } = properties as Record<string, JsonSchema>;
  return {
    $schema,
    title,
    description,
    type: 'object',
    required: ['specversion', 'id', 'source', 'type', 'time', 'data'],
    properties: {
      specversion: { const: '1.0' },
      id: guid,
      source: { type: 'string', format: 'uri-reference', minLength: 1 },
      type: { const: actionKey(action) },
      time,
      datacontenttype: { const: 'application/json' },
      data: {
        type: 'object',
        required: ['parties', 'payload'],
        properties: { parties, payload, ignored: rest['ignored'], error_message: rest['error_message'] },
      },
    },
  };
}
