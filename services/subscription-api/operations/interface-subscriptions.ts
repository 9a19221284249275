/**
 * The endpoints of shipper-webhooks and of carrier-webhooks, and one to see a carrier's subscription. Brokers are accounts of the shipper
 * interface.
 */
import { Type, type TSchema } from 'typebox';
import type { Action, Interface } from '@waybell/catalog/action';
import { spelledOut } from '@waybell/catalog/audit-fields';
import { seesTokens, type Caller } from '../rest/authentication/authenticate.ts';
import { Problem } from '../rest/http/problem.ts';
import type { ShownSubscription } from '../subscriptions.ts';
import type { Subscription } from '../tables.ts';
import { requireFeature } from './find-action.ts';
import { bare, noBody, nothing, operationsOf, type PathParameter, type Served } from './operation.ts';
import { closed, component, described, flag, from, guid, list, object, only, optional, text } from './schema.ts';
import type { ClientServices } from './services.ts';
import { CALLBACK_URL, callbackUrl, readSubscribe } from './subscription-rules.ts';

type Uses = Pick<ClientServices, 'subscriptions' | 'actionsOf' | 'callbackRules'>;

const operation = operationsOf<Uses>();

/** The names of the actions of an interface. */
export const namesOf = (interfaceName: Interface, catalog: readonly Action[]) =>
  catalog.filter((action) => action.interface === interfaceName).map(({ name }) => name);

/** Schemas of the names of actions. */
export const actionNames = {
  shipper: component('ShipperActionName', (catalog) => text({ enum: namesOf('shipper', catalog) })),
  carrier: component('CarrierActionName', (catalog) => text({ enum: namesOf('carrier', catalog) })),
} satisfies Record<Interface, TSchema>;

const actionIn = (interfaceName: Interface): PathParameter<Action> => ({
  schema: actionNames[interfaceName],
  examples: { 'order.created': { value: 'order.created' } },
  trait: 'action',
  read: (name, { services, response }: Served<Uses>) => services.actionsOf[interfaceName].find(name, response),
});

const description = text('Completes the sentence "sent when …".');
const isActive = flag('False once it is ended or was switched off.');
const token = optional(
  text({
    description:
      'Sent with every notification as `X-Service-Verification-Token`. Shown to tokens with `webhooks:write`.',
    examples: ['0hZ5cVtXn7Qm2bRk9sLwYp4uJf6aGdE1oTiHxC3vKqM'],
  }),
);
const shownUrl = text({ examples: [CALLBACK_URL] });

/** An array of fields, as the actions that take any have them. */
function auditFields(type: 'array' | ['array', 'null'], told: string, catalog: readonly Action[]) {
  const taking = Map.groupBy(
    catalog.filter((action) => action.auditFields !== undefined),
    (action) => action.auditFields,
  );
  const forms = [...taking].map(([fields, actions]) => ({
    title: `for ${actions.map(({ name }) => name).join(', ')}`,
    items: { enum: spelledOut(fields ?? []) },
  }));
  return optional(Type.Unsafe<string[] | null>({ type, description: told, uniqueItems: true, anyOf: forms }));
}

const ShipperAction = component(
  'ShipperAction',
  object({
    action: from('name', actionNames.shipper),
    description,
    audit_fields: optional(
      list(text(), 'The names that `audit_field_set` may hold; absent where the action has no revision form.'),
    ),
  }),
);

const CarrierAction = component('CarrierAction', object({ action: from('name', actionNames.carrier), description }));

/** `2026-11-20T09:30:00.123+0000` (shipper-webhooks, Resources and their fields). */
const timestamp = (name: 'created_at' | 'changed_at') =>
  from(
    (row: Subscription) => row[name].toISOString().replace('Z', '+0000'),
    text({
      pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$`,
      examples: ['2026-11-20T09:30:00.123+0000'],
    }),
  );

/** The fields of shipper-webhooks, Subscription, in its order. */
const ShipperSubscription = component('ShipperSubscription', (catalog) =>
  object({
    is_active: isActive,
    created_at: timestamp('created_at'),
    changed_at: timestamp('changed_at'),
    action: actionNames.shipper,
    verification_token: token,
    callback_url: shownUrl,
    guid: guid(),
    audit_field_set: auditFields('array', 'As subscribed with; absent where it was omitted.', catalog),
  }),
);

/** The four fields of carrier-webhooks, Subscription. */
const CarrierSubscription = component(
  'CarrierSubscription',
  object({ is_active: isActive, action: actionNames.carrier, verification_token: token, callback_url: shownUrl }),
);

const ShipperSubscribeRequest = component('ShipperSubscribeRequest', (catalog) =>
  closed({
    callback_url: callbackUrl,
    audit_field_set: auditFields(
      ['array', 'null'],
      'Only for the revision actions. Given, even empty, notifications carry old and new values of these fields; omitted, they have the plain form. On other actions an empty one, or null, counts as omitted.',
      catalog,
    ),
  }),
);

/** As every action takes it: which names an `audit_field_set` may hold, differs from one to another. */
const anyShipperRequest = closed({
  callback_url: callbackUrl,
  audit_field_set: optional(Type.Unsafe<string[] | null>({ type: ['array', 'null'] })),
});

const CarrierSubscribeRequest = component('CarrierSubscribeRequest', closed({ callback_url: callbackUrl }));

const actions = { scope: 'webhooks:read', summary: 'List actions', method: 'get' } as const;
const shipper = { tag: 'Shipper interface', interface: 'shipper' } as const;
const carrier = { tag: 'Carrier interface', interface: 'carrier' } as const;
const onShipperAction = { ...shipper, parameters: { webhook_action: actionIn('shipper') } } as const;
const onCarrierAction = {
  ...carrier,
  path: '/v1/webhooks/{webhook_action}/subscriptions/',
  parameters: { webhook_action: actionIn('carrier') },
} as const;

/** Shippers get all wrapped. */
const wrapped = (answered: object) => ({ status: 'success', data: answered });
const oneOf = (schema: TSchema) => object({ status: only('success'), data: object({ object: schema }) });
const allOf = (schema: TSchema) => object({ status: only('success'), data: object({ objects: list(schema) }) });
const withToken = (schema: TSchema) => described(schema, { required: ['verification_token'] });

const listShipperActions = {
  ...actions,
  ...shipper,
  description:
    'Deprecated actions are left out; those of a feature are there only where it is enabled for the account.',
  answers: { 200: bare('The actions that can be subscribed to.', allOf(ShipperAction)) },
  handle: ({ caller, services }: Served<Uses>) => wrapped({ objects: services.actionsOf.shipper.listFor(caller) }),
} as const;

export const shipperOperations = [
  operation({ ...listShipperActions, path: '/v1/public/webhooks/action_types', id: 'listShipperActions' }),

  operation({
    ...listShipperActions,
    path: '/webhooks/action_types',
    id: 'listShipperActionsUnprefixed',
    summary: 'List actions, at their other address',
  }),

  operation({
    ...shipper,
    method: 'get',
    path: '/v1/public/webhooks',
    id: 'listShipperSubscriptions',
    summary: 'List current subscriptions',
    description: "The client's own, those that were switched off too.",
    scope: 'webhooks:read',
    answers: { 200: bare('The subscriptions, by action.', allOf(ShipperSubscription)) },
    async handle({ caller, services: { subscriptions } }) {
      const all = await subscriptions.list(caller);
      return wrapped({ objects: all.map((each) => shown(subscriptions, caller, each)) });
    },
  }),

  operation({
    ...onShipperAction,
    method: 'post',
    path: '/v1/public/webhooks/{webhook_action}/subscribe',
    id: 'subscribeShipper',
    summary: 'Subscribe to an action',
    description:
      'When subscribed already: replaces `callback_url` and `audit_field_set` and switches the subscription on; its guid and verification token stay.',
    scope: 'webhooks:write',
    body: { schema: anyShipperRequest, shown: ShipperSubscribeRequest, isUnjudged: true },
    answers: { 200: bare('The subscription.', oneOf(withToken(ShipperSubscription))) },
    problems: ['feature-off'],
    async handle({ caller, path, body, services: { subscriptions, callbackRules } }) {
      requireFeature(path.webhook_action, caller);
      const wanted = await readSubscribe(body, path.webhook_action, callbackRules);
      return wrapped({ object: shown(subscriptions, caller, await subscriptions.subscribeOrReplace(caller, wanted)) });
    },
  }),

  operation({
    ...onShipperAction,
    method: 'post',
    path: '/v1/public/webhooks/{webhook_action}/unsubscribe',
    id: 'unsubscribeShipper',
    summary: 'Unsubscribe from an action',
    description: 'Without a body; an empty object is fine too.',
    scope: 'webhooks:write',
    body: noBody,
    answers: { 200: bare('The subscription as it ended.', oneOf(ShipperSubscription)) },
    problems: ['not-subscribed'],
    handle: async ({ caller, path, services: { subscriptions } }) =>
      wrapped({ object: shown(subscriptions, caller, await end(subscriptions, caller, path.webhook_action)) }),
  }),
];

export const carrierOperations = [
  operation({
    ...actions,
    ...carrier,
    path: '/v1/webhooks/',
    id: 'listCarrierActions',
    description: 'Deprecated actions are left out.',
    answers: { 200: bare('The actions that can be subscribed to.', list(CarrierAction)) },
    handle: ({ caller, services }) => services.actionsOf.carrier.listFor(caller),
  }),

  operation({
    ...onCarrierAction,
    method: 'get',
    id: 'listCarrierSubscriptions',
    summary: 'Look at the subscription to an action',
    description: 'Shows whether it was switched off.',
    scope: 'webhooks:read',
    answers: {
      200: bare('The current subscription of the client, or none.', list(CarrierSubscription, { maxItems: 1 })),
    },
    async handle({ caller, path, services: { subscriptions } }) {
      const current = await subscriptions.find(caller, { action: path.webhook_action.name });
      return current === undefined ? [] : [shown(subscriptions, caller, current)];
    },
  }),

  operation({
    ...onCarrierAction,
    method: 'post',
    id: 'subscribeCarrier',
    summary: 'Subscribe to an action',
    description: 'When subscribed already, active or switched off: 409. DELETE the subscription first.',
    scope: 'webhooks:write',
    body: { schema: CarrierSubscribeRequest, isUnjudged: true },
    answers: { 201: bare('The subscription, with a new verification token.', withToken(CarrierSubscription)) },
    problems: ['already-subscribed'],
    async handle({ caller, path: { webhook_action: action }, body, services: { subscriptions, callbackRules } }) {
      requireFeature(action, caller);
      const subscription = await subscriptions.subscribeOnce(caller, await readSubscribe(body, action, callbackRules));
      if (subscription !== undefined) return shown(subscriptions, caller, subscription);
      throw alreadySubscribed(await subscriptions.find(caller, { action: action.name }));
    },
  }),

  operation({
    ...onCarrierAction,
    method: 'delete',
    id: 'unsubscribeCarrier',
    summary: 'Unsubscribe from an action',
    scope: 'webhooks:write',
    body: noBody,
    answers: { 204: nothing('The client is no longer subscribed.') },
    problems: ['not-subscribed'],
    handle: async ({ caller, path, services }) => void (await end(services.subscriptions, caller, path.webhook_action)),
  }),
];

/** The token is shown only where the caller may see it. */
const shown = (subscriptions: Uses['subscriptions'], caller: Caller, subscription: ShownSubscription) => ({
  ...subscription,
  verification_token: seesTokens(caller) ? subscriptions.verificationToken(subscription) : undefined,
});

async function end(subscriptions: Uses['subscriptions'], caller: Caller, { name }: Action): Promise<ShownSubscription> {
  const ended = await subscriptions.end(caller, name);
  if (ended !== undefined) return ended;
  throw new Problem('not-subscribed', `This client is not subscribed to ${name}.`);
}

/** The one in the way may have gone since; then it only says less. */
function alreadySubscribed(current: Subscription | undefined): Problem {
  const on = current && `PATCH /v1/subscriptions/${current.guid} with {"is_active": true} switches it on again`;
  const state = current?.is_active === false ? `, but the subscription was deactivated: ${on}. Or` : '.';
  const detail = `This client is already subscribed to the action${state} DELETE the subscription first, then subscribe again.`;
  return new Problem('already-subscribed', detail);
}
