import type { Action, JsonSchema } from '@waybell/catalog/action';
import { actionKey, reports } from '@waybell/catalog/actions';
import { eventSchema, notificationSchema, revisionNotificationSchema } from '@waybell/catalog/schemas';

/** The JSON Schemas of actions, and of reports, as documents of their own, by file name. */
export function schemaDocuments(catalog: readonly Action[]): Record<string, JsonSchema> {
  return Object.fromEntries([
    ...[...catalog, ...reports].map((action) => [`${actionKey(action)}.event.json`, eventSchema(action)]),
    ...catalog.map((action) => [`${actionKey(action)}.notification.json`, anyNotificationSchema(action)]),
  ]);
}

/** Matches all that a subscriber of the action may get: the revision form too, where the action has it. */
export function anyNotificationSchema(action: Action): JsonSchema {
  const plain = notificationSchema(action);
  const revision = revisionNotificationSchema(action);
  if (revision === null) return plain;
  const { $schema, title, description } = plain;
  const forms = [
    { ...withoutHead(plain), title: 'Plain form: subscribed without audit_field_set' },
    { ...withoutHead(revision), title: 'Revision form: subscribed with audit_field_set' },
  ];
  return { $schema, title, description, anyOf: forms };
}

/** The schema as a part of a document, which says itself what dialect it is in. */
export function asPart(schema: JsonSchema): JsonSchema {
  const { $schema: _dialect, ...part } = schema;
  return part;
}

function withoutHead(schema: JsonSchema): JsonSchema {
  const { title: _title, description: _description, ...rest } = asPart(schema);
  return rest;
}
