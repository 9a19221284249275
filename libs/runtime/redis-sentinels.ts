import type { RedisOptions } from 'ioredis';
import { addressesIn } from './addresses-in.ts';

const DEFAULT_PORT = 26_379;

/** Whether the address names sentinels instead of Redis itself. */
export const namesSentinels = (url: string): boolean => /^rediss?\+sentinel:/i.test(url);

/** Returns the master's name in `redis+sentinel://s1:26379,s2:26379/name/0`; empty if it is left out. */
export const masterNameOf = (url: string): string => pathOf(url)[0] ?? '';

/** Whether such an address can be decoded: its percent-encoding and its database number. */
export function namesMaster(url: string): boolean {
  try {
    return Number.isInteger(masterOf({ url }).db);
  } catch {
    return false;
  }
}

/**
 * Reads `redis+sentinel://user:password@s1:26379,s2:26379/name/0`. User, password and database (default 0) are those of Redis;
 * `?sentinel_username=` and `?sentinel_password=` those of the sentinels. TLS applies to all of them.
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
    // Other sentinels, known by addresses that no certificate may be valid for, are not asked.
    updateSentinels: false,
    name,
    db: Number(db),
    ...Object.fromEntries(given),
    ...(tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
  };
}

const pathOf = (url: string): string[] =>
  new URL(addressesIn(url)[0]).pathname.slice(1).split('/').map(decodeURIComponent);
