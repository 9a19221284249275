/**
 * Policies of RabbitMQ that override what the line's queues were declared with: reads those in effect from the management API
 * (`readPolicies`), judges which of them harm the line (`harmfulPolicies`), and checks this repeatedly (`PolicyCheck`).
 */
import { get as getPlainly } from 'node:http';
import { get as getEncrypted } from 'node:https';
import { json } from 'node:stream/consumers';
import { addressesIn, placeOf } from '@waybell/runtime/addresses';
import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { returnsExchange } from '../topology.ts';

/** A queue or exchange with the policies in effect on it, merged as RabbitMQ merges them. */
export type Governed = {
  kind: 'queue' | 'exchange';
  name: string;
  /** Name of the policy; empty if there is none. */
  policy: string;
  operatorPolicy: string;
  /** Merged definition of both policies. */
  definition: Readonly<Record<string, unknown>>;
  /** Arguments that it was declared with. */
  arguments: Readonly<Record<string, unknown>>;
};

type PoliciesOptions = {
  /** RabbitMQ's management API, as in http://rabbitmq:15672; without a user in the URL, the user of the broker's address. */
  managementUrl: string;
  address: ServerAddress;
};

const LIMIT_MS = 10_000;

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
    return asGoverned(named, membersOf(object['arguments']), [
      policyFor(named, policies),
      policyFor(named, operatorPolicies),
    ]);
  };
  return [
    ...(await ask(`queues/${vhost}?columns=name,type,arguments`)).map(govern('queue')),
    ...(await ask(`exchanges/${vhost}`)).map(govern('exchange')),
  ];
}

/** Returns the virtual host in an AMQP URL. */
export function vhostOf(url: string): string {
  const { pathname } = new URL(addressesIn(url)[0]);
  return pathname.length > 1 ? decodeURIComponent(pathname.slice(1)) : '/';
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
function asGoverned(
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

/** A policy, or a policy and operator policy together, that makes the line lose or refuse messages. */
export type HarmfulPolicy = {
  /** Describes the policy, its effect, and the command that removes it. */
  text: string;
  /** Whether queued messages are lost or moved; otherwise new ones may be refused. */
  loses: boolean;
};

type Harm = { key: string; loses: boolean };

const isOurs = ({ name }: Governed): boolean => name.startsWith('waybell.');

/**
 * Finds policies that make the line's queues lose messages or refuse new ones. Whether the policy or the argument wins follows
 * rabbit_quorum_queue.erl, RabbitMQ 3.10 to 4.x.
 */
export function harmfulPolicies(all: readonly Governed[], vhost: string): HarmfulPolicy[] {
  const harmed = all.filter(isOurs).flatMap((governed) => {
    const harms = governed.kind === 'queue' ? harmsOfQueue(governed) : harmsOfExchange(governed);
    return harms.length === 0 ? [] : [{ governed, harms }];
  });
  const byPolicy = Map.groupBy(harmed, ({ governed }) => JSON.stringify([governed.policy, governed.operatorPolicy]));
  return [...byPolicy.values()].flatMap((those) => {
    const [first] = those;
    return first === undefined ? [] : [describe(first.governed, those, vhost)];
  });
}

function harmsOfQueue({ definition, arguments: own }: Governed): Harm[] {
  const has = (key: string) => definition[key] !== undefined;
  /** The smaller of policy and argument is in effect. */
  const isTighter = (key: string) => has(key) && !(Number(definition[key]) >= Number(own[`x-${key}`]));
  const overflow = definition['overflow'] ?? own['x-overflow'];
  const keepsAll = own['x-overflow'] === 'reject-publish';
  const bounds = ['max-length', 'max-length-bytes'].filter(isTighter);
  const isReturned = own['x-dead-letter-exchange'] === returnsExchange;
  return [
    ...['expires', 'federation-upstream', 'federation-upstream-set'].filter(has),
    ...['message-ttl', 'delivery-limit'].filter(isTighter),
    // Any other overflow makes dead-lettering at-most-once.
    ...(keepsAll && overflow !== 'reject-publish' ? ['overflow', ...bounds].filter(has) : []),
    ...(isReturned && own['x-dead-letter-routing-key'] === undefined ? ['dead-letter-routing-key'].filter(has) : []),
  ]
    .map((key): Harm => ({ key, loses: true }))
    .concat(keepsAll && overflow === 'reject-publish' ? bounds.map((key) => ({ key, loses: false })) : []);
}

/** With an alternate exchange, unroutable messages are no longer returned to the publisher. */
function harmsOfExchange({ definition, arguments: own }: Governed): Harm[] {
  const key = 'alternate-exchange';
  return definition[key] === undefined || own[key] !== undefined ? [] : [{ key, loses: true }];
}

type Harmed = { governed: Governed; harms: readonly Harm[] };

function describe({ policy, operatorPolicy }: Governed, those: readonly Harmed[], vhost: string): HarmfulPolicy {
  const loses = those.some(({ harms }) => harms.some((harm) => harm.loses));
  const worst = those.filter(({ harms }) => harms.some((harm) => harm.loses === loses));
  const said = worst.flatMap(({ governed, harms }) =>
    harms.map(({ key }) => `${key}=${JSON.stringify(governed.definition[key])}`),
  );
  const [example] = worst;
  const names = [
    ...(policy === '' ? [] : [{ what: 'policy', name: policy, command: 'clear_policy' }]),
    ...(operatorPolicy === ''
      ? []
      : [{ what: 'operator policy', name: operatorPolicy, command: 'clear_operator_policy' }]),
  ];
  const called = names.map(({ what, name }) => `${what} "${name}"`).join(' or ');
  const commands = names.map(({ command, name }) => `rabbitmqctl ${command} -p "${vhost}" "${name}"`).join('; ');
  const touched = `${worst.length} of ours, such as ${example?.governed.name ?? 'none'}`;
  const harm = loses
    ? 'by which they lose, or give elsewhere, what they hold'
    : 'which refuse what is published beyond it';
  const text = `${called}: ${[...new Set(said)].join(', ')} for ${touched}, ${harm}: clear it (${commands}), or give it a pattern that leaves out waybell.*`;
  return { text, loses };
}

const EVERY_MS = 15_000;

/** Checks every 15 s, until disposed, whether a policy makes queues of the line lose messages. */
export class PolicyCheck implements AsyncDisposable {
  readonly #checking: AsyncDisposable;
  /** Result of the last successful check; stays while the management API does not answer. */
  #harmful: readonly string[] = [];

  constructor(options: PoliciesOptions & { log: Log; clock: Clock; everyMs?: number }) {
    const { log, clock, everyMs = EVERY_MS } = options;
    const check = async () => {
      const found = harmfulPolicies(await readPolicies(options), vhostOf(options.address.url));
      const harmful = found.filter(({ loses }) => loses).map(({ text }) => text);
      for (const todo of harmful) if (!this.#harmful.includes(todo)) log.error({ todo }, 'policy.harmful');
      this.#harmful = harmful;
    };
    this.#checking = runEvery(check, {
      intervalMs: everyMs,
      beginsAtOnce: true,
      warning: 'policies.not-read',
      log,
      clock,
    });
  }

  waitingFor(): readonly string[] {
    return this.#harmful;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#checking[Symbol.asyncDispose]();
  }
}
