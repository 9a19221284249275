import { USES, type BrokerUser, type Use } from '../uses.ts';

/** RabbitMQ's permissions of a user: three regular expressions over names of exchanges and queues. */
export type Permissions = { configure: string; write: string; read: string };

/** Returns the RabbitMQ user name. */
export const brokerUser = (user: string): string => `waybell-${user}`;

/** Permissions of each service and of the other users. Only `declare` and `operator` may configure anything. */
export const permissions: Readonly<Record<BrokerUser, Permissions>> = Object.fromEntries(
  Object.entries<Use>(USES).map(([user, { configures = [], publishesTo, takesFrom, asksAfter = [] }]) => [
    user,
    // Since 4.3.1 a passive declare needs some right to the queue. The right to write allows least.
    { configure: pattern(configures), write: pattern([...publishesTo, ...asksAfter]), read: pattern(takesFrom) },
  ]),
  // The keys are those of USES.
) as Record<BrokerUser, Permissions>;

/** Returns a pattern that matches exactly these names; without names, nothing. */
function pattern(names: readonly string[]): string {
  const escaped = [...new Set(names)].map((name) => name.replaceAll('.', '\\.').replaceAll('*', '.*'));
  return escaped.length === 0 ? '^$' : `^(${escaped.join('|')})$`;
}
