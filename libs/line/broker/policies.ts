import { returnsExchange } from '../topology.ts';

/** A queue or an exchange, and what policies say of it: as RabbitMQ itself works that out, operator policies included. */
export type Governed = {
  kind: 'queue' | 'exchange';
  name: string;
  /** Empty where there is none. */
  policy: string;
  operatorPolicy: string;
  /** What its policies say. */
  definition: Readonly<Record<string, unknown>>;
  /** What it was declared with. */
  arguments: Readonly<Record<string, unknown>>;
};

/** A policy, or a policy and an operator policy together, by which the line would not keep what it is to keep. */
export type HarmfulPolicy = {
  /** What to say of it: which it is, what it does to what, and the command that makes it right. */
  text: string;
  /** Whether what is held is lost by it, or moved; else what is published may be refused. */
  loses: boolean;
};

type Harm = { key: string; loses: boolean };

const isOurs = ({ name }: Governed): boolean => name.startsWith('waybell.');

/**
 * The policies that may take from the line what it holds, or refuse what is published to it. Which of policy and argument
 * counts: rabbit_quorum_queue.erl, RabbitMQ 3.10 to 4.x.
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
  /** The smaller one counts. */
  const isTighter = (key: string) => has(key) && !(Number(definition[key]) >= Number(own[`x-${key}`]));
  const overflow = definition['overflow'] ?? own['x-overflow'];
  const keepsAll = own['x-overflow'] === 'reject-publish';
  const bounds = ['max-length', 'max-length-bytes'].filter(isTighter);
  const isReturned = own['x-dead-letter-exchange'] === returnsExchange;
  return [
    ...['expires', 'federation-upstream', 'federation-upstream-set'].filter(has),
    ...['message-ttl', 'delivery-limit'].filter(isTighter),
    // With another, what dies in it is handed on at most once.
    ...(keepsAll && overflow !== 'reject-publish' ? ['overflow', ...bounds].filter(has) : []),
    ...(isReturned && own['x-dead-letter-routing-key'] === undefined ? ['dead-letter-routing-key'].filter(has) : []),
  ]
    .map((key): Harm => ({ key, loses: true }))
    .concat(keepsAll && overflow === 'reject-publish' ? bounds.map((key) => ({ key, loses: false })) : []);
}

/** What no queue takes would no longer be returned to who published it. */
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
