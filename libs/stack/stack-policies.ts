import { inflateSync } from 'node:zlib';
import { harmfulPolicies, type Governed, type HarmfulPolicy } from '@waybell/line/broker/policies';
import { readPolicies, vhostOf } from '@waybell/line/broker/read-policies';
import { readEnvironment } from '@waybell/runtime/environment';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { brokerSettings } from '@waybell/runtime/settings';
import { rabbitmq } from './rabbitmq.ts';
import { evaluate } from './rabbitmqctl.ts';
import { stackAt } from './stack-at.ts';
import type { StackFolder } from './stack-folder.ts';
import { readRecord } from './stack-record.ts';
import { conditionOf } from './stack-state.ts';
import { thisMachine } from './this-machine.ts';

/** A broker that hangs must not hold up what asks. */
const LIMIT_MS = 10_000;

type Evaluate = (expression: string) => Promise<string>;

/**
 * The policies that harm the line there, by the management API, or in the RabbitMQ of a stack of this machine; undefined
 * where neither is known. Throws where it does not tell.
 */
export async function harmfulPoliciesAt(
  address: ServerAddress,
  env: NodeJS.ProcessEnv,
): Promise<HarmfulPolicy[] | undefined> {
  const { AMQP_MANAGEMENT_URL: managementUrl } = readEnvironment(MANAGEMENT, env);
  const stack = stackAt(address.url);
  const governed =
    managementUrl !== '' ? await readPolicies({ managementUrl, address }) : stack && (await policiesOfStack(stack));
  return governed && harmfulPolicies(governed, vhostOf(address.url));
}

const MANAGEMENT = { AMQP_MANAGEMENT_URL: brokerSettings.AMQP_MANAGEMENT_URL };

/** What policies say of the queues and exchanges of a stack; undefined where its RabbitMQ is none of its processes. */
async function policiesOfStack(folder: StackFolder): Promise<Governed[] | undefined> {
  const condition = conditionOf(folder);
  const isItsOwn = condition.kind !== 'stopped' && condition.state.processes.some(isRabbitmq);
  const binary = thisMachine(() => undefined).findBinary('rabbitmq');
  if (!isItsOwn || binary === undefined) return undefined;
  const node = rabbitmq({ folder, record: readRecord(folder), binary }).processes.find(isRabbitmq);
  return node && policiesBy((expression) => evaluate(node, expression, AbortSignal.timeout(LIMIT_MS)), '/');
}

const isRabbitmq = ({ name, state }: { name: string; state?: string }): boolean =>
  name === 'rabbitmq' && state !== 'external';

/** What policies say of those queues and exchanges of a virtual host that have any, by a node that evaluates expressions of Erlang. */
export async function policiesBy(evaluateThere: Evaluate, vhost: string): Promise<Governed[]> {
  const said = await evaluateThere(expressionFor(vhost));
  // Erlang breaks a long text into several.
  const encoded = [...said.matchAll(/"([^"]*)"/g)].map(([, part]) => part).join('');
  // Written by the expression.
  return JSON.parse(inflateSync(Buffer.from(encoded, 'base64')).toString()) as Governed[];
}

/** As a short string in base64: what is long, other characters, and binaries, Erlang's tools write in ways of their own. The places in `exchange` are those of its record. */
function expressionFor(vhost: string): string {
  const bytes = `<<${[...Buffer.from(vhost)].join()}>>`;
  return [
    'begin',
    'Text = fun(T) when is_binary(T) -> T; (_) -> <<>> end,',
    'Map = fun(M) when is_map(M) -> M; (L) when is_list(L) -> maps:from_list(L); (_) -> #{} end,',
    'Args = fun(L) -> maps:from_list([{K, V} || {K, _, V} <- L, is_binary(V) orelse is_number(V) orelse is_boolean(V)]) end,',
    'Row = fun(Kind, {resource, _, _, Name}, O, A) -> #{kind => Kind, name => Name, arguments => Args(A),',
    'policy => Text(rabbit_policy:name(O)), operatorPolicy => Text(rabbit_policy:name_op(O)),',
    'definition => Map(rabbit_policy:effective_definition(O))} end,',
    `Queues = [Row(queue, amqqueue:get_name(Q), Q, amqqueue:get_arguments(Q)) || Q <- rabbit_amqqueue:list(${bytes})],`,
    `Exchanges = [Row(exchange, element(2, X), X, element(7, X)) || X <- rabbit_exchange:list(${bytes})],`,
    'Governed = [R || #{definition := D} = R <- Queues ++ Exchanges, map_size(D) > 0],',
    'base64:encode_to_string(zlib:compress(rabbit_json:encode(Governed)))',
    'end',
  ].join(' ');
}
