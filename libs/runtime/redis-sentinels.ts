import type { RedisOptions } from 'ioredis';
import { addressesIn } from './addresses-in.ts';

const DEFAULT_PORT = 26_379;

/** Whether the address names sentinels, and not Redis itself. */
export const namesSentinels = (url: string): boolean => /^rediss?\+sentinel:/i.test(url);

/** The name that the sentinels of `redis+sentinel://s1:26379,s2:26379/name/0` know the master by; empty where it is left out. */
export const masterNameOf = (url: string): string => pathOf(url)[0] ?? '';

/** Whether all of such an address can be read: what is percent-encoded, and the number of the database. */
export function namesMaster(url: string): boolean {
  try {
    return Number.isInteger(masterOf({ url }).db);
  } catch {
    return false;
  }
}

/**
 * The master of `redis+sentinel://user:password@s1:26379,s2:26379/name/0`. User, password and database (0 where it is left out)
 * are those of Redis; `?sentinel_username=` and `?sentinel_password=` those of the sentinels. TLS is to all of them.
 */
export function masterOf({
  url,
  tls,
}: Pick<RedisOptions, 'tls'> & { url: string }): Omit<RedisOptions, 'replyMapping'> {
  const { username, password, searchParams } = new URL(addressesIn(url)[0]);
  const [name = '', db = '0'] = pathOf(url);
  const given = Object.entries({
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
    sentinelUsername: searchParams.get('sentinel_username'),
    sentinelPassword: searchParams.get('sentinel_password'),
  }).filter(([, value]) => value);
  return {
    sentinels: addressesIn(url).map((each) => {
      const { hostname, port } = new URL(each);
      return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || DEFAULT_PORT };
    }),
    // Others, which sentinels know by addresses that no certificate may hold for, are not asked.
    updateSentinels: false,
    name,
    db: Number(db),
    ...Object.fromEntries(given),
    ...(tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
  };
}

const pathOf = (url: string): string[] =>
  new URL(addressesIn(url)[0]).pathname.slice(1).split('/').map(decodeURIComponent);
