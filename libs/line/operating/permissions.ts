import { USES, type BrokerUser, type Use } from '../uses.ts';

/** What a user of RabbitMQ may do, as its three regular expressions over the names of exchanges and queues. */
export type Permissions = { configure: string; write: string; read: string };

/** The name that a user has on RabbitMQ. */
export const brokerUser = (user: string): string => `waybell-${user}`;

/** What each service may do on RabbitMQ, and who is no service: all but `declare` and `operator` configure nothing. */
export const permissions: Readonly<Record<BrokerUser, Permissions>> = Object.fromEntries(
  Object.entries<Use>(USES).map(([user, { configures = [], publishesTo, takesFrom, asksAfter = [] }]) => [
    user,
    // To ask after a queue takes some right to it, since 4.3.1. That to write allows least: to bind it to what it may read besides.
    { configure: pattern(configures), write: pattern([...publishesTo, ...asksAfter]), read: pattern(takesFrom) },
  ]),
  // The keys are those of USES.
) as Record<BrokerUser, Permissions>;

/** Matches these names and no others; without any, nothing. */
function pattern(names: readonly string[]): string {
  const escaped = names.map((name) => name.replaceAll('.', '\\.').replaceAll('*', '.*'));
  return escaped.length === 0 ? '^$' : `^(${escaped.join('|')})$`;
}
