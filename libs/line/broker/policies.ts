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
