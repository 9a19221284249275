import { get as getPlainly } from 'node:http';
import { get as getEncrypted } from 'node:https';
import { json } from 'node:stream/consumers';
import { addressesIn } from '@waybell/runtime/addresses-in';
import { placeOf } from '@waybell/runtime/place-of';
import type { ServerAddress } from '@waybell/runtime/server-address';
import type { Governed } from './policies.ts';

export type PoliciesOptions = {
  /** RabbitMQ's management API, as in http://rabbitmq:15672; without a user in the URL, the user of the broker's address. */
  managementUrl: string;
  address: ServerAddress;
};

const LIMIT_MS = 10_000;

/** Returns the virtual host in an AMQP URL. */
export function vhostOf(url: string): string {
  const { pathname } = new URL(addressesIn(url)[0]);
  return pathname.length > 1 ? decodeURIComponent(pathname.slice(1)) : '/';
}

/**
 * Reads the policies in effect on each queue and exchange from the management API, whose user needs the tag `policymaker`. On failure,
 * throws an error that says what to do.
 */
export async function readPolicies({ managementUrl, address }: PoliciesOptions): Promise<Governed[]> {
  const vhost = encodeURIComponent(vhostOf(address.url));
  const ask = async (path: string) =>
    objectsOf(await askFor(`${managementUrl.replace(/\/$/, '')}/api/${path}`, address));
  const [policies, operatorPolicies] = [await ask(`policies/${vhost}`), await ask(`operator-policies/${vhost}`)];
  if (policies.length + operatorPolicies.length === 0) return [];
  const govern = (kind: Governed['kind']) => (object: ManagementObject) => {
    const named = { kind, name: textOf(object['name']), type: textOf(object['type']) };
    return governed(named, membersOf(object['arguments']), [
      policyFor(named, policies),
      policyFor(named, operatorPolicies),
    ]);
  };
  return [
    ...(await ask(`queues/${vhost}?columns=name,type,arguments`)).map(govern('queue')),
    ...(await ask(`exchanges/${vhost}`)).map(govern('exchange')),
  ];
}

type NamedResource = Pick<Governed, 'kind' | 'name'> & { type: string };

/** Returns the policy in effect, as rabbit_policy.erl chooses it: the matching one of highest priority. */
function policyFor(named: NamedResource, policies: readonly ManagementObject[]): ManagementObject | undefined {
  const matching = policies.filter((policy) => appliesTo(named, textOf(policy['apply-to'])) && matches(named, policy));
  const [first] = matching.toSorted((one, other) => Number(other['priority']) - Number(one['priority']));
  return first;
}

function appliesTo({ kind, type }: NamedResource, applyTo: string): boolean {
  const ofQueues = ['queues', `${type === '' ? 'quorum' : type}_queues`];
  return applyTo === 'all' || (kind === 'exchange' ? ['exchanges'] : ofQueues).includes(applyTo);
}

/** Erlang's regular expressions are PCRE; one that JavaScript cannot compile counts as matching. */
function matches({ name }: NamedResource, { pattern }: ManagementObject): boolean {
  try {
    const [, anyCase, expression = ''] = /^(\(\?i\))?(.*)$/s.exec(textOf(pattern)) ?? [];
    return new RegExp(expression, anyCase === undefined ? 'u' : 'iu').test(name);
  } catch {
    return true;
  }
}

/** Merges both policies: the smaller number, otherwise the operator policy's value. */
function governed(
  { kind, name }: NamedResource,
  own: ManagementObject,
  [policy, operatorPolicy]: (ManagementObject | undefined)[],
): Governed {
  const definition = { ...membersOf(policy?.['definition']) };
  for (const [key, value] of Object.entries(membersOf(operatorPolicy?.['definition']))) {
    const other = definition[key];
    definition[key] = typeof other === 'number' && typeof value === 'number' ? Math.min(other, value) : value;
  }
  const names = { policy: textOf(policy?.['name']), operatorPolicy: textOf(operatorPolicy?.['name']) };
  return { kind, name, ...names, definition, arguments: own };
}

type ManagementObject = Record<string, unknown>;

const objectsOf = (answer: unknown): ManagementObject[] => (Array.isArray(answer) ? answer.map(membersOf) : []);

/** Returns no members for a list: Erlang writes an empty object as one. */
const membersOf = (value: unknown): ManagementObject => (isObject(value) ? value : {});

const isObject = (value: unknown): value is ManagementObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

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
  401: 'give its user the tag "policymaker" (rabbitmqctl set_user_tags <user> policymaker), and some right in the virtual host',
  404: 'AMQP_MANAGEMENT_URL is to name the management API, as in http://rabbitmq:15672',
};
