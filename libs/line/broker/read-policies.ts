import { get as getPlainly } from 'node:http';
import { get as getEncrypted } from 'node:https';
import { json } from 'node:stream/consumers';
import { addressesIn } from '@waybell/runtime/addresses-in';
import { placeOf } from '@waybell/runtime/place-of';
import type { ServerAddress } from '@waybell/runtime/server-address';
import type { Governed } from './policies.ts';

export type PoliciesOptions = {
  /** Of RabbitMQ's management API, as in http://rabbitmq:15672; without a user in it, that of the broker's address is used. */
  managementUrl: string;
  address: ServerAddress;
};

const LIMIT_MS = 10_000;
const COLUMNS = 'columns=name,policy,operator_policy,effective_policy_definition,arguments';

/** The virtual host that an address of RabbitMQ names. */
export function vhostOf(url: string): string {
  const { pathname } = new URL(addressesIn(url)[0]);
  return pathname.length > 1 ? decodeURIComponent(pathname.slice(1)) : '/';
}

/**
 * What policies say of each queue and exchange, by the management API: for queues its user needs the tag `management`, for
 * exchanges `policymaker`; without that, exchanges are left out. Throws, saying what to do, where it does not tell.
 */
export async function readPolicies({ managementUrl, address }: PoliciesOptions): Promise<Governed[]> {
  const vhost = encodeURIComponent(vhostOf(address.url));
  const ask = (path: string) => askFor(`${managementUrl.replace(/\/+$/, '')}/api/${path}`, address);
  const queues = rowsOf(await ask(`queues/${vhost}?${COLUMNS}`));
  const policies = await ask(`policies/${vhost}`).then(rowsOf, () => []);
  const definitions = new Map(policies.map(({ name, definition }) => [name, definition]));
  const exchanges = policies.length === 0 ? [] : rowsOf(await ask(`exchanges/${vhost}`));
  return [
    ...queues.map((row) => asGoverned('queue', row, row['effective_policy_definition'])),
    ...exchanges.map((row) => asGoverned('exchange', row, definitions.get(row['policy']))),
  ];
}

type Row = Record<string, unknown>;

const rowsOf = (answer: unknown): Row[] => (Array.isArray(answer) ? answer.map(membersOf) : []);

/** Erlang writes an object without members as a list. */
const membersOf = (value: unknown): Row => (isObject(value) ? value : {});

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export function asGoverned(kind: Governed['kind'], row: Row, definition: unknown): Governed {
  return {
    kind,
    name: textOf(row['name']),
    policy: textOf(row['policy']),
    operatorPolicy: textOf(row['operator_policy']),
    definition: membersOf(definition),
    arguments: membersOf(row['arguments']),
  };
}

async function askFor(url: string, { url: broker, tls }: ServerAddress): Promise<unknown> {
  const { username, password } = new URL(url).username === '' ? new URL(addressesIn(broker)[0]) : new URL(url);
  const auth = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const plain = Object.assign(new URL(url), { username: '', password: '' });
  const options = { auth, signal: AbortSignal.timeout(LIMIT_MS) };
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const get = plain.protocol === 'https:' ? getEncrypted : getPlainly;
  const request = get(plain, { ...options, ...tls }, (response) => {
    const { statusCode = 0 } = response;
    if (statusCode === 200) return void json(response).then(resolve, reject);
    response.resume();
    reject(
      new Error(
        `the management API at ${placeOf(url)} answers ${statusCode}: ${ADVICE[statusCode] ?? 'see AMQP_MANAGEMENT_URL'}`,
      ),
    );
  });
  request.on('error', reject);
  return promise;
}

const ADVICE: Partial<Record<number, string>> = {
  401: 'give its user the tag "management" (rabbitmqctl set_user_tags <user> management)',
  404: 'AMQP_MANAGEMENT_URL is to name the management API, as in http://rabbitmq:15672',
};
