import { brokerUser, permissions } from '@waybell/line/line-topology';
import { passwordOf } from '@waybell/runtime/local-passwords';
import type { StackRecord } from './stack-record.ts';

export const ADMINISTRATOR = 'waybell';
/** May read policies, by the management API. */
export const MONITOR = 'waybell-monitor';

type Definitions = {
  vhosts: { name: string }[];
  users: { name: string; password: string; tags: string }[];
  permissions: Granted[];
};

type Granted = { user: string; vhost: string; configure: string; write: string; read: string };

/** The rights of each user on that virtual host, as RabbitMQ's definitions have them. */
export function grantedOn(vhost: string): Granted[] {
  return Object.entries(permissions).map(([user, may]) => ({ user: brokerUser(user), vhost, ...may }));
}

/** All users of the broker of a stack, each with a password of its own, for RabbitMQ to load when it starts. */
export function definitions(passwordFor: (user: string) => string, vhosts: readonly string[] = []): Definitions {
  const everywhere = ['/', ...vhosts];
  const everything = { configure: '.*', write: '.*', read: '.*' };
  const users = [ADMINISTRATOR, ...Object.keys(permissions).map(brokerUser)];
  return {
    vhosts: everywhere.map((name) => ({ name })),
    users: users.map((name) => ({
      name,
      password: passwordFor(name),
      tags: name === ADMINISTRATOR ? 'administrator' : '',
    })),
    permissions: everywhere.flatMap((vhost) => [{ user: ADMINISTRATOR, vhost, ...everything }, ...grantedOn(vhost)]),
  };
}

/** These, and a user that may read policies. */
export function withMonitor(
  { vhosts, users, permissions: granted }: Definitions,
  { brokerPassword }: StackRecord,
): Definitions {
  const nothing = { configure: '^$', write: '^$', read: '^$' };
  return {
    vhosts,
    users: [...users, { name: MONITOR, password: passwordOf(MONITOR, brokerPassword), tags: 'policymaker' }],
    permissions: [...granted, ...vhosts.map(({ name }) => ({ user: MONITOR, vhost: name, ...nothing }))],
  };
}
