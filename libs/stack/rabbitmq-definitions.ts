import { permissions } from '@waybell/line/permissions';

export const ADMINISTRATOR = 'waybell';

/** A user of RabbitMQ in a stack. Of a service it has the name. */
export const brokerUser = (user: string): string => `${ADMINISTRATOR}-${user}`;

type Granted = { user: string; vhost: string; configure: string; write: string; read: string };

/** Who may do what on that virtual host, as RabbitMQ's definitions have it. */
export function grantedOn(vhost: string): Granted[] {
  return Object.entries(permissions).map(([user, may]) => ({ user: brokerUser(user), vhost, ...may }));
}

/** Everybody who has to do with the broker of a stack, for RabbitMQ to load when it starts. All have the same password. */
export function definitions(password: string): object {
  const vhost = '/';
  const everything = { configure: '.*', write: '.*', read: '.*' };
  const granted = [{ user: ADMINISTRATOR, vhost, ...everything }, ...grantedOn(vhost)];
  return {
    vhosts: [{ name: vhost }],
    users: granted.map(({ user }) => ({ name: user, password, tags: user === ADMINISTRATOR ? 'administrator' : '' })),
    permissions: granted,
  };
}
