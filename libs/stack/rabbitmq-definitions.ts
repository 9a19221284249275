import { brokerUser, permissions } from '@waybell/line/permissions';

export const ADMINISTRATOR = 'waybell';

type Granted = { user: string; vhost: string; configure: string; write: string; read: string };

/** The rights of each user on that virtual host, as RabbitMQ's definitions have them. */
export function grantedOn(vhost: string): Granted[] {
  return Object.entries(permissions).map(([user, may]) => ({ user: brokerUser(user), vhost, ...may }));
}

/** All users of the broker of a stack, each with a password of its own, for RabbitMQ to load when it starts. */
export function definitions(passwordFor: (user: string) => string, vhosts: readonly string[] = []): object {
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
