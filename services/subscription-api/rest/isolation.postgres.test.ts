import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { signUp, startApi } from '../testing/api.ts';
import { documentedOperations, type DocumentedOperation } from '../testing/documented-operations.ts';
import { logDelivery } from '../testing/logged-delivery.ts';
import { createToken } from '../tokens.ts';
import { shared } from '@waybell/runtime/testing/shared';

const base = '/v1/public/webhooks';

const api = shared(() => startApi());
let operations: DocumentedOperation[];
let owners: Owner[];
/** The delivery log's entries about them. */
let logged: string[];

type Owner = { guid: string; token: string };

/** Rows that belong to one owner: its subscriptions and credentials, and with its other clients its signing secrets. */
async function ownedRows(withSecrets: Owner[]): Promise<Record<string, unknown>[]> {
  const subscriptions = `select * from waybell.subscriptions
    where account_guid = any($1) and client_id = 'default' order by guid`;
  const credentials = `select * from waybell.credentials
    where account_guid = any($1) and client_id = 'default' order by guid`;
  const signingSecrets = 'select * from waybell.signing_secrets where account_guid = any($1) order by guid';
  const read = async (sql: string, from: Owner[]) =>
    (await api.store.postgres.query(sql, [from.map(({ guid }) => guid)])).rows;
  const sendings = 'select * from delivery_log.sendings where account = any($1) order by guid';
  return [
    ...(await read(subscriptions, owners)),
    ...(await read(credentials, owners)),
    ...(await read(signingSecrets, withSecrets)),
    ...(await read(sendings, owners)),
  ];
}

beforeAll(async () => {
  const [shipper, carrier] = [await signUp(api, { interface: 'shipper' }), await signUp(api, { interface: 'carrier' })];
  owners = [shipper, carrier];
  const body = { callback_url: 'https://hooks.test/of-the-owner' };
  await api.ask('POST', `${base}/order.created/subscribe`, { token: shipper.token, body });
  await api.ask('POST', `${base}/order.paid/subscribe`, { token: shipper.token, body });
  await api.ask('POST', '/v1/webhooks/order.created/subscriptions', { token: carrier.token, body });
  for (const { token } of owners)
    for (const host of HOSTS) await api.ask('PUT', `/v1/credentials/${host}`, { token, body: CREDENTIALS });
  const entries = [
    await logDelivery(api.store.postgres, { account: shipper.guid, interface: 'shipper', mark: 'of-the-owner' }),
    await logDelivery(api.store.postgres, { account: carrier.guid, interface: 'carrier', mark: 'of-the-owner' }),
  ];
  logged = entries.flatMap(({ subject, event, delivery }) => [subject, event, delivery]);
  const document = (await api.ask('GET', '/openapi.json')).body;
  operations = documentedOperations(document).filter(({ needsToken }) => needsToken);
});

/** For which the owners have credentials: where their callbacks go, and where no others do. */
const HOSTS = ['hooks.test', 'host.of-the-owner.test:8443'];
const CREDENTIALS = {
  headers: { 'X-Of-The-Owner': 'of-the-owner' },
  oauth2: { token_url: 'https://hooks.test/of-the-owner', client_id: 'of-the-owner', client_secret: 'of-the-owner' },
};

/** Valid bodies: an invalid one would be refused before the check under test. */
const TAKEN = { required: { callback_url: 'https://hooks.test/of-a-stranger' }, optional: {}, none: undefined };

const BODIES: Record<string, object> = {
  putSubscriptions: { ...TAKEN.required, actions: ['*'] },
  putCredentials: { headers: { 'X-Api-Key': 'of-a-stranger' } },
};

/** All of the delivery log that may be read on, with what was sent. */
const ALL_SENT = '/v1/deliveries?after=oldest&include=body&limit=200';

/** The list of deliveries by what the owner of the first three has. */
function filtered(): string[] {
  const [subject = '', event = '', delivery = ''] = logged;
  const filters = [
    ['key', subject],
    ...[event, delivery].flatMap((guid) => [
      ['guid', guid],
      ['guid', guid.slice(0, 8)],
    ]),
    ['status', 'delivered,exhausted'],
  ];
  return filters.map((filter) => `/v1/deliveries?${new URLSearchParams([filter]).toString()}`);
}

/** Ways to name what is another's: by everything that is the owners' in the path, by the owners in the query, headers and the body. */
function* waysToAsk({ name, method, path, body }: DocumentedOperation, subscription: string) {
  const at = (action: string) => path.replace(/\{\w+\}/, action);
  const takes = BODIES[name] ?? TAKEN[body];
  const accounts = owners.map(({ guid }) => guid);
  if (path.includes('{'))
    for (const named of [...accounts, subscription, ...HOSTS, ...logged])
      yield { method, path: at(named), body: takes };
  for (const guid of accounts) {
    const named = { guid, account_guid: guid, client_id: 'default' };
    const headers = { 'x-account': guid, 'x-account-guid': guid, 'x-client-id': 'default', from: guid };
    yield { method, path: `${at('order.created')}?${new URLSearchParams(named).toString()}`, body: takes };
    yield { method, path: at('order.created'), body: takes, headers };
    if (takes !== undefined) yield { method, path: at('order.created'), body: { ...takes, ...named } };
  }
  if (method === 'GET' && ALL_SENT.startsWith(path))
    for (const all of [ALL_SENT, ...filtered()]) yield { method, path: all, body: takes };
  if (body === 'required')
    for (const when of [{ since: '2026-01-01T00:00:00Z' }, { missed: true }])
      yield { method, path, body: { subscription_guid: subscription, ...when } };
}

describe('every endpoint', () => {
  test('tells the owner what it has credentials for', async () => {
    for (const { token } of owners)
      for (const path of ['/v1/credentials', ...HOSTS.map((host) => `/v1/credentials/${host}`)])
        expect((await api.ask('GET', path, { token })).text).toContain('"client_id":"of-the-owner"');
  });

  test('tells the owner what is in the delivery log', async () => {
    const [subject, , delivery] = logged;
    for (const path of [
      `/v1/timeline?key=${subject}`,
      `/v1/timeline/${subject}`,
      `/v1/deliveries/${delivery}`,
      ALL_SENT,
      ...filtered(),
    ])
      expect((await api.ask('GET', path, { token: owners[0]?.token })).text).toContain('of-the-owner');
  });

  test.each(['another shipper', 'another carrier', 'another client of the shipper', 'another client of the carrier'])(
    "keeps what is an account's from %s, whatever guid it names",
    async (stranger) => {
      const interfaceName = stranger.endsWith('shipper') ? 'shipper' : 'carrier';
      const accountGuid = owners[interfaceName === 'shipper' ? 0 : 1]?.guid ?? '';
      const isClient = stranger.includes('client');
      const token = isClient
        ? await createToken(api.store.postgres, { accountGuid, clientId: randomUUID() })
        : (await signUp(api, { interface: interfaceName })).token;
      const others = isClient ? owners.filter(({ guid }) => guid !== accountGuid) : owners;
      const before = await ownedRows(others);
      const [tokens, signingSecrets] = [await verificationTokens(), await signingSecretsOf(others)];
      expect([tokens.length, new Set(signingSecrets).size]).toEqual([3, others.length]);
      const seen: string[] = [];
      for (const operation of operations) {
        const ways = [...waysToAsk(operation, String(before[0]?.['guid']))];
        const answers = await Promise.all(
          ways.map(({ method, path, ...more }) => api.ask(method, path, { token, ...more })),
        );
        // Whether they are refused or answered with what is the stranger's own: the owners' is not in them.
        const texts = answers.map(({ text }) => text.replaceAll(HOST_NAMED, '')).join('\n');
        seen.push(...answers.map(({ status }) => `${operation.name} ${status}`));
        for (const secret of [...tokens, ...signingSecrets, 'of-the-owner']) expect(texts).not.toContain(secret);
      }
      expect(await ownedRows(others)).toEqual(before);
      // It has had credentials of its own for the same hosts.
      for (const answer of ['getCredentials 404', 'putCredentials 201', 'deleteCredentials 204'])
        expect(seen).toContain(answer);
    },
  );
});

/** The stranger itself names it. */
const HOST_NAMED = /host\.of-the-owner\.test/g;

async function verificationTokens(): Promise<string[]> {
  const [shipper, carrier] = owners.map(({ token }) => token);
  const shippers = await api.ask('GET', base, { token: shipper });
  const carriers = await api.ask('GET', '/v1/webhooks/order.created/subscriptions', { token: carrier });
  const all: { verification_token: string }[] = [...shippers.body.data.objects, ...carriers.body];
  return all.map(({ verification_token }) => verification_token);
}

/** The current one of each. */
async function signingSecretsOf(some: Owner[]): Promise<string[]> {
  const listed = some.map(({ token }) => api.ask('GET', '/v1/signing-secrets', { token }));
  return (await Promise.all(listed)).map(({ body }) => (body.data ?? body).objects[0].secret);
}
