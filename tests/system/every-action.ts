import { describe, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { actionKey, actions } from '@waybell/catalog/actions';
import { Dice } from '../actions/generate/dice.ts';
import { anEvent, announcedName, type GeneratedEvent, parties } from '../actions/generate/event.ts';
import { object, quoted, setIn } from '../actions/generate/json.ts';
import { clothesOf } from '../actions/generate/broken.ts';
import { messageOf, varied } from '../actions/generate/message.ts';
import { actionTable, type ActionRow, keyOf } from '../actions/oracle/action-table.ts';
import { orderFields, vehicleFields } from '../actions/oracle/audit-fields.ts';
import { expectedOf } from '../actions/oracle/expected-body.ts';
import { messageGuidOf } from '../actions/oracle/message-guid.ts';
import type { Received } from '../testing/receiver.ts';
import type { Client } from '../testing/test-stack.ts';
import { receiver, stack } from './stand.ts';

/** A client of an account, and whether it wants to hear what changed. */
type Subscriber = { name: string; client: Client; interface: 'shipper' | 'carrier'; isRevised?: boolean };
type Accounts = Record<(typeof parties)[number], string>;
type Telling = { accounts: Accounts; firstSeed: number };
type Subscribed = { guid: string; token: string; auditFieldSet: readonly string[] | null; secret: string };

const ROOT = '/every-action';
const features = ['insurance', 'servicepay'];
const isRevision = ({ family }: ActionRow) => family === 'order revision' || family === 'vehicle revision';
const fieldsOf = ({ family }: ActionRow) => (family === 'vehicle revision' ? vehicleFields : orderFields);
const pathOf = (name: string, row: ActionRow) => `${ROOT}/${name}/${keyOf(row)}`;

const subscribed = new Map<string, Subscribed>();
const events = new Map<string, GeneratedEvent>();

/** Resolves with the accounts that events name, all of them, needed or not: those of which much is expected, and others. */
async function everybodySubscribes(): Promise<{ ours: Accounts; others: Accounts }> {
  const shipper = await stack.client('shipper', features);
  const subscribers: Subscriber[] = [
    { name: 'shipper', client: shipper, interface: 'shipper' },
    { name: 'revisions', client: await revisionsOf(shipper), interface: 'shipper', isRevised: true },
    { name: 'broker', client: await stack.client('shipper', features), interface: 'shipper' },
    { name: 'carrier', client: await stack.client('carrier'), interface: 'carrier' },
    { name: 'stranger', client: await stack.client('shipper', features), interface: 'shipper' },
    { name: 'stranger', client: await stack.client('carrier'), interface: 'carrier' },
  ];
  await Promise.all(subscribers.map(subscribeToAll));
  const accounts = subscribers.map(({ client }) => client.account);
  const [ours = '', , broker = '', carrier = '', strange = '', strangeCarrier = ''] = accounts;
  return {
    ours: { shipper: ours, broker, carrier },
    others: { shipper: strange, broker: strange, carrier: strangeCarrier },
  };
}

const revisionsOf = ({ account }: Client) => stack.clientOf(account, 'shipper', 'revisions');

async function subscribeToAll({ name, client, interface: side, isRevised = false }: Subscriber): Promise<void> {
  const [secret = ''] = await client.signingSecrets();
  for (const row of actionTable) {
    if (row.interface !== side || (isRevised && !isRevision(row))) continue;
    const path = pathOf(name, row);
    const auditFieldSet = isRevised ? fieldsOf(row) : null;
    const token = await client.subscribe(row.name, receiver.url(path), auditFieldSet ? [...auditFieldSet] : undefined);
    const guid = await stack.subscriptionAt(receiver.url(path));
    subscribed.set(path, { guid, token, auditFieldSet, secret });
  }
}

/** The first of the generated events of this action that goes under its name, and that every client gets. */
function eventOf(row: ActionRow, { accounts, firstSeed }: Telling): { event: GeneratedEvent; dice: Dice } {
  for (let seed = firstSeed; ; seed += 1) {
    const dice = new Dice(seed);
    const event = { ...anEvent(row, dice), accounts };
    setIn(event.envelope, 'parties', object(parties.map((party) => [party, quoted(accounts[party])])));
    const told = [null, fieldsOf(row)].map((auditFieldSet) => expectedOf(event, { auditFieldSet, messageGuid: '' }));
    if (announcedName(event) === row.name && told.every((each) => 'body' in each)) return { event, dice };
  }
}

async function publish(row: ActionRow, telling: Telling): Promise<GeneratedEvent> {
  const { event, dice } = eventOf(row, telling);
  const message = varied(messageOf(event, clothesOf(dice), dice), event, dice);
  const { routingKey, body, messageId, ...extra } = message;
  await stack.upstream.publishRaw(routingKey, body, messageId, extra);
  return event;
}

/** The clients that get an action: receivers as the specifications say, and the client that wants to know what changed. */
const hearers = (row: ActionRow) => [...row.receivers, ...(isRevision(row) ? ['revisions'] : [])];

/** The one request that came to a path. */
function requestAt(path: string): Received {
  const [request, ...others] = receiver.at(path);
  expect({ path, others }).toEqual({ path, others: [] });
  if (request === undefined) throw new Error(`nothing came to ${path}`);
  return request;
}

export function everyAction(): void {
  describe('an event of every action', () => {
    beforeAll(async () => {
      const { ours, others } = await everybodySubscribes();
      for (const row of actionTable) events.set(keyOf(row), await publish(row, { accounts: ours, firstSeed: 1 }));
      const paths = actionTable.flatMap((row) => hearers(row).map((name) => pathOf(name, row)));
      await Promise.all(paths.map((path) => receiver.untilReceived(path, 1)));
      // A second event of each, for others: what the first one sent too much goes ahead of it in the action's queue.
      for (const row of actionTable) await publish(row, { accounts: others, firstSeed: 1_000 });
      await Promise.all(actionTable.map((row) => receiver.untilReceived(pathOf('stranger', row), 1)));
    });

    const rows = actionTable.flatMap((row) => hearers(row).map((name) => [keyOf(row), name, row] as const));
    test.each(rows)('%s comes to the %s, once, to the byte, and signed', (key, name, row) => {
      const path = pathOf(name, row);
      const event = events.get(key);
      const { guid, token, auditFieldSet, secret } = subscribed.get(path) ?? {};
      if (event === undefined || guid === undefined || auditFieldSet === undefined)
        throw new Error(`${path} is unknown`);
      const messageGuid = messageGuidOf(event.guid, guid);
      const { body, headers } = requestAt(path);
      expect({ body }).toEqual(expectedOf(event, { auditFieldSet, messageGuid }));
      expect(headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'x-service-verification-token': token,
        'x-webhook-attempt': '1',
        'webhook-id': messageGuid,
        'user-agent': expect.stringMatching(/^Waybell\/\d/),
      });
      expect(token).toMatch(/\S{16,}/);
      expect(headers).not.toHaveProperty('traceparent');
      // The oracle of the standard.
      new Webhook(secret ?? '').verify(body, headers as Record<string, string>);
    });

    test('comes to no other client, though all have subscribed to everything', () => {
      const expected = actionTable.flatMap((row) => [...hearers(row), 'stranger'].map((name) => pathOf(name, row)));
      const came = receiver.received.map(({ path }) => path).filter((path) => path.startsWith(ROOT));
      expect(came.toSorted()).toEqual(expected.toSorted());
    });
  });

  describe('an action', () => {
    test('is in the catalog exactly if it is in the specifications', () => {
      expect(actions.map(actionKey).toSorted()).toEqual(actionTable.map(keyOf).toSorted());
    });
  });
}
