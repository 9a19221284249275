import type { Action, Interface } from '@waybell/catalog/action';
import { actionKey } from '@waybell/catalog/actions';
import { families } from '@waybell/contracts/families';
import { asPart, anyNotificationSchema } from '@waybell/contracts/schema-documents';
import type { SentExample, SentExamples } from '@waybell/contracts/sent-examples';
import type { JsonNode } from './schema.ts';

const header = (name: string, description: string, schema: JsonNode, required = true): JsonNode => ({
  name,
  in: 'header',
  required,
  description,
  schema,
});

const parameters = [
  header('X-Service-Verification-Token', 'The `verification_token` of the subscription: compare it with yours.', {
    type: 'string',
  }),
  header(
    'webhook-id',
    'The message: the same on every attempt, if it is resent, and if the event is processed twice.',
    {
      type: 'string',
      format: 'uuid',
    },
  ),
  header('webhook-timestamp', 'When this attempt began, in seconds since 1970.', {
    type: 'string',
    pattern: '^[0-9]+$',
  }),
  header(
    'webhook-signature',
    'As Standard Webhooks says: `v1,` and the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` in base64, for each valid signing secret of the account, with blanks between them. Absent while the account has none.',
    { type: 'string', pattern: '^v1,[A-Za-z0-9+/]+=( v1,[A-Za-z0-9+/]+=)*$' },
    false,
  ),
  header('X-Webhook-Attempt', '1 for the first request; goes on where a message is resent.', {
    type: 'integer',
    minimum: 1,
  }),
  header(
    'X-Webhook-Test',
    'Only on a test, whose message nothing happened for.',
    { type: 'string', const: 'true' },
    false,
  ),
  header('User-Agent', 'Name and version of the sender.', { type: 'string', pattern: '^Waybell/' }),
  header('traceparent', 'Only where the deployment passes traces on.', { type: 'string' }, false),
];

const FAILURES: Record<Interface, string> = {
  shipper:
    'Any other status (redirects are not followed), or none within 60 seconds: sent again 60 seconds later, five times at most.',
  carrier:
    'Any other status (redirects are not followed), or none within 3 seconds: sent again after 1, 2 and 4 seconds; then the subscription is switched off.',
};

/** The name of the schema of an action's notification among the components. */
const notificationName = (action: Action): string => `notification.${actionKey(action)}`;

export function notificationSchemas(catalog: readonly Action[]): Record<string, JsonNode> {
  return Object.fromEntries(catalog.map((action) => [notificationName(action), asPart(anyNotificationSchema(action))]));
}

/** One entry per action, by `<interface>.<action>`. */
export function webhooks(catalog: readonly Action[], sentExamples: SentExamples): Record<string, JsonNode> {
  return Object.fromEntries(
    catalog.map((action) => [actionKey(action), webhook(action, sentExamples[actionKey(action)] ?? [])]),
  );
}

function webhook(action: Action, sent: readonly SentExample[]): JsonNode {
  const family = families.find(({ actions }) => actions.includes(action));
  const content = {
    schema: { $ref: `#/components/schemas/${notificationName(action)}` },
    examples: Object.fromEntries(sent.map(exampleOf)),
  };
  return {
    post: {
      ...(family === undefined ? {} : { tags: [family.title] }),
      operationId: actionKey(action),
      summary: action.description,
      description: describe(action),
      ...(action.deprecated === undefined ? {} : { deprecated: true }),
      security: [],
      parameters,
      requestBody: { required: true, content: { 'application/json': content } },
      responses: {
        '2XX': { description: 'Taken, whatever the body.' },
        default: { description: FAILURES[action.interface] },
      },
    },
  };
}

function exampleOf({ form, body }: SentExample): [name: string, example: JsonNode] {
  const summary = form === 'plain' ? 'As sent' : 'As sent to a subscription with audit_field_set';
  return [form, { summary, value: JSON.parse(body) }];
}

function describe({ description, receivers, feature, payload }: Action): string {
  const links = payload.kind === 'listed' ? (payload.links ?? []) : [];
  return [
    `Sent when ${description}. Received by: ${receivers.join(' and ')}.`,
    ...(feature === undefined ? [] : [`Needs the account feature \`${feature}\`.`]),
    ...(links.length === 0 ? [] : [`Sent only when all of ${links.join(', ')} are available.`]),
  ].join(' ');
}
