import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Action, JsonSchema, Party } from '@waybell/catalog/action';
import { actionKey, actions, actionsOf } from '@waybell/catalog/actions';
import { eventSchema } from '@waybell/catalog/event-schema';
import { notificationSchema, revisionNotificationSchema } from '@waybell/catalog/notification-schema';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { anEvent, type PublishedEvent } from '../testing/event.ts';
import { PATIENT } from '../testing/patience.ts';
import { type Received, Receiver } from '../testing/receiver.ts';
import { type Client, TestStack } from '../testing/test-stack.ts';
import { actionTable, keyOf } from './oracle/action-table.ts';
import { messageGuidOf } from './oracle/message-guid.ts';

/** Everybody subscribes to everything of an interface: who is no party of an event must get nothing all the same. */
type Subscriber = { name: string; client: Client; interface: 'shipper' | 'carrier' };

const parties: readonly Party[] = ['shipper', 'broker', 'carrier'];
const features = ['insurance', 'servicepay'];
const revised = actions.filter(({ auditFields }) => auditFields !== undefined);
const ajv = new Ajv2020({ strictTypes: false, allowUnionTypes: true });
ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,9}(Z|[+-]\d\d:?\d\d)$/);

let stack: TestStack;
let receiver: Receiver;
const tokens = new Map<string, string>();
const subscriptionGuids = new Map<string, string>();
const events = new Map<string, PublishedEvent>();
let accounts: Record<string, string> = {};

/** As the specifications say, not the catalog. */
const rowOf = (action: Action) => actionTable.find((row) => keyOf(row) === actionKey(action));
const receiversOf = (action: Action): readonly Party[] => rowOf(action)?.receivers ?? [];
const pathOf = (name: string, action: Action) => `/${name}/${actionKey(action)}`;

beforeAll(async () => {
  // What comes is to come once: that this process, which receives, stands still must not count as a failed attempt.
  [stack, receiver] = await Promise.all([TestStack.start(PATIENT), Receiver.start()]);
  await everybodySubscribes();
  for (const action of actions) events.set(actionKey(action), await publish(action, (party) => party));
  const expected = actions.flatMap((action) => receiversOf(action).map((party) => pathOf(party, action)));
  const all = [...expected, ...revised.map((action) => pathOf('revisions', action))];
  await Promise.all(all.map((path) => receiver.untilReceived(path, 1)));
  // A second event of each action, for others: what the first one sent too much goes ahead of it in the action's queue.
  for (const action of actions) await publish(action, () => `${action.interface}-stranger`);
  await Promise.all(actions.map((action) => receiver.untilReceived(pathOf('stranger', action), 1)));
});

afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

async function everybodySubscribes(): Promise<void> {
  const subscribers: Subscriber[] = [
    { name: 'shipper', client: await stack.client('shipper', features), interface: 'shipper' },
    { name: 'broker', client: await stack.client('shipper', features), interface: 'shipper' },
    { name: 'carrier', client: await stack.client('carrier'), interface: 'carrier' },
    { name: 'stranger', client: await stack.client('shipper', features), interface: 'shipper' },
    { name: 'stranger', client: await stack.client('carrier'), interface: 'carrier' },
  ];
  accounts = Object.fromEntries(
    subscribers.map(({ name, client, interface: side }) => {
      return [name === 'stranger' ? `${side}-stranger` : name, client.account];
    }),
  );
  const revisions = await stack.clientOf(accounts['shipper'] ?? '', 'shipper', 'revisions');
  await Promise.all([
    ...subscribers.map(async ({ name, client, interface: side }) => subscribe(name, client, actionsOf(side))),
    subscribe('revisions', revisions, revised),
  ]);
}

async function subscribe(name: string, client: Client, toActions: readonly Action[]): Promise<void> {
  for (const action of toActions) {
    const path = pathOf(name, action);
    const fields = name === 'revisions' ? [...(action.auditFields ?? [])] : undefined;
    tokens.set(path, await client.subscribe(action.name, receiver.url(path), fields));
  }
  if (toActions[0]?.interface === 'carrier') return; // Its subscriptions show no guid.
  const { body } = await client.call('GET', '/v1/public/webhooks');
  // A shape that the contract does not have fails the tests below.
  const { objects } = (body as { data: { objects: { guid: string; callback_url: string }[] } }).data;
  for (const { guid, callback_url: url } of objects) subscriptionGuids.set(new URL(url).pathname, guid);
}

/** The example of the catalog. Every event names an account for every party, needed or not. */
async function publish(action: Action, accountFor: (party: Party) => string): Promise<PublishedEvent> {
  const named = Object.fromEntries(parties.map((party) => [party, accounts[accountFor(party)] ?? '']));
  const event = anEvent({
    interface: action.interface,
    action: action.name,
    parties: named,
    payload: { ...action.example },
  });
  await stack.upstream.publish(event);
  return event;
}

/** The one request that came to a path. */
function requestAt(path: string): Received {
  const [request, ...others] = receiver.at(path);
  expect({ path, others }).toEqual({ path, others: [] });
  if (request === undefined) throw new Error(`nothing came to ${path}`);
  return request;
}

function faultsOf(schema: JsonSchema, value: unknown): unknown {
  const accepts = ajv.compile(schema);
  return accepts(value) ? null : accepts.errors;
}

/** What of an example a notification must carry. */
function shownOf({ interface: side, payload, example }: Action): Record<string, unknown> {
  if (side === 'carrier') return { data: example };
  return payload.kind === 'revision' ? { order_guid: example['order_guid'] } : { ...example };
}

describe.each(actions.map((action) => [actionKey(action), action] as const))('%s', (key, action) => {
  test('is published as its schema of the event says', () => {
    expect(faultsOf(eventSchema(action), events.get(key))).toBeNull();
  });

  test.each(receiversOf(action))('comes to the %s once, as its schema of the notification says', (party) => {
    const { body } = requestAt(pathOf(party, action));
    expect(faultsOf(notificationSchema(action), JSON.parse(body))).toBeNull();
    expect(JSON.parse(body)).toMatchObject({ action: action.name, ...shownOf(action) });
  });

  test('comes with the headers that both specifications promise', () => {
    const path = pathOf(receiversOf(action)[0] ?? 'shipper', action);
    const { headers, body } = requestAt(path);
    const subscription = subscriptionGuids.get(path);
    const guid =
      subscription === undefined
        ? JSON.parse(body).guid
        : messageGuidOf(events.get(key)?.guid ?? '', subscription.toLowerCase());
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-service-verification-token': tokens.get(path),
      'x-webhook-attempt': '1',
      'webhook-id': guid,
      'user-agent': expect.stringMatching(/^Waybell\/\d/),
    });
    expect(tokens.get(path)).toMatch(/\S{16,}/);
    expect(headers).not.toHaveProperty('traceparent');
  });
});

describe.each(revised.map((action) => [action.name, action] as const))('%s in the revision form', (_name, action) => {
  test('comes to another client of the same account beside the plain form', () => {
    const { body } = requestAt(pathOf('revisions', action));
    expect(faultsOf(revisionNotificationSchema(action) ?? {}, JSON.parse(body))).toBeNull();
    expect(Object.keys(JSON.parse(body).data)).not.toHaveLength(0);
  });
});

describe('an action', () => {
  test('is in the catalog exactly if it is in the specifications', () => {
    expect(actions.map(actionKey).toSorted()).toEqual(actionTable.map(keyOf).toSorted());
  });

  test('comes to nobody but its receivers, though all have subscribed to it', () => {
    const expected = actions.flatMap((action) =>
      [...receiversOf(action), 'stranger'].map((name) => pathOf(name, action)),
    );
    const revisions = revised.map((action) => pathOf('revisions', action));
    expect(receiver.received.map(({ path }) => path).toSorted()).toEqual([...expected, ...revisions].toSorted());
  });

  test('that needs a feature is neither listed nor subscribed to without it', async () => {
    const client = await stack.client('shipper');
    const { body } = await client.call('GET', '/v1/public/webhooks/action_types');
    const listed = (body as { data: { objects: { action: string }[] } }).data.objects.map(({ action }) => action);
    const [gated, free] = [true, false].map((isGated) =>
      actionTable
        .filter((row) => row.interface === 'shipper' && (row.gate !== undefined) === isGated)
        .map(({ name }) => name),
    );
    expect(listed.toSorted()).toEqual(free?.toSorted());
    const answers = (gated ?? []).map(async (name) => {
      const url = receiver.url('/gated');
      return client.call('POST', `/v1/public/webhooks/${name}/subscribe`, { callback_url: url });
    });
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([409, 409, 409, 409]);
  });
});
