/**
 * The addresses of RabbitMQ, Postgres and Redis, read from settings: each is checked for what would go wrong later, and can be read
 * again, as passwords and certificates are rotated in files.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { RedisOptions } from 'ioredis';
import { addressesIn } from './addresses.ts';
import { InvalidEnvironment, readAgain } from './environment.ts';

/**
 * The address of a server, or of a cluster's nodes. With `tls`, the server's certificate must be valid for the host of `url` and
 * signed by a trusted authority.
 */
export type ServerAddress = {
  url: string;
  /** PEM: authorities that may sign the server's certificate, and this process's own certificate and key if the server requests one. */
  tls?: { ca?: string | undefined; cert?: string | undefined; key?: string | undefined };
  /** The running stack provided it, not a setting; for messages. */
  isOfStack?: boolean;
  /** Reads it once more, as its files may have changed; throws if they are not valid. `file`: what the url was read from, if that is a file. */
  again?: { file: string | undefined; read: () => ServerAddress };
};

const TLS_SETTINGS = ['TLS_CA', 'TLS_CERTIFICATE', 'TLS_KEY'] as const;
type TlsSettings = Record<(typeof TLS_SETTINGS)[number], string>;
export type BrokerAddressSettings = { AMQP_URL: string } & TlsSettings;
export type PostgresAddressSettings = { DATABASE_URL: string } & TlsSettings;
export type RedisAddressSettings = { REDIS_URL: string } & TlsSettings;

type UrlOf<U extends string> = { [name in U]?: string | undefined };
type ReadAddress = (url: string, tls: TlsSettings) => ServerAddress;

/**
 * Reads the address of one node or of several of one cluster. TLS by `amqps://`. Throws InvalidEnvironment if the settings
 * contradict each other.
 */
export const brokerAddress = (settings: BrokerAddressSettings): ServerAddress =>
  readable(settings, 'AMQP_URL', nodesAt);

/** The same, for operators' requests. */
export const operatorAddress = (settings: TlsSettings & UrlOf<'ADMIN_AMQP_URL'>): ServerAddress =>
  readable(settings, 'ADMIN_AMQP_URL', nodesAt);

function nodesAt(url: string, settings: TlsSettings): ServerAddress {
  const isTls = /^amqps:/i.test(url);
  const clusters = addressesIn(url).map((node) => `${URL.parse(node)?.protocol}${URL.parse(node)?.pathname}`);
  if (new Set(clusters).size > 1)
    throw new InvalidEnvironment([
      'AMQP_URL: its addresses are not of one cluster: they differ in amqp:// or amqps://, or in the virtual host',
    ]);
  return addressOf(url, isTls, settings);
}

/**
 * TLS by `sslmode=verify-full`. Throws InvalidEnvironment if the settings contradict each other, and for modes that encrypt
 * without verifying the server.
 */
export const postgresAddress = (settings: PostgresAddressSettings): ServerAddress =>
  readable(settings, 'DATABASE_URL', postgresAt);

function postgresAt(given: string, settings: TlsSettings): ServerAddress {
  requireAlike('DATABASE_URL', given);
  const { url, isTls } = readSslMode(given);
  return addressOf(url, isTls, settings);
}

/** Includes the separator that joins the parameter to the others: before it or, if it is the first, after it. */
const SSL_MODE = /(?<=\?)sslmode=[^&#]*(&|(?=#|$))|&sslmode=[^&#]*/;

/** Parameters that pg itself would read, some of them as "encrypt, and trust any server". */
const OTHER_PARAMETERS = ['ssl', 'sslcert', 'sslkey', 'sslrootcert', 'uselibpqcompat'];

/** libpq's words for a server that accepts writes, and for one that is no standby: Waybell needs both. */
const SESSIONS = ['read-write', 'primary'];

function readSslMode(address: string): { url: string; isTls: boolean } {
  const url = URL.parse(addressesIn(address)[0]);
  if (url === null) return { url: address, isTls: false };
  const sessions = url.searchParams.get('target_session_attrs');
  if (sessions !== null && !SESSIONS.includes(sessions))
    throw new InvalidEnvironment([
      `DATABASE_URL: target_session_attrs=${sessions} may lead to a server that takes no writes: write read-write`,
    ]);
  const other = OTHER_PARAMETERS.find((name) => url.searchParams.has(name));
  if (other !== undefined)
    throw new InvalidEnvironment([
      `DATABASE_URL: "${other}" is not read: write sslmode=verify-full, and name files by TLS_CA_FILE, TLS_CERTIFICATE_FILE and TLS_KEY_FILE`,
    ]);
  const mode = url.searchParams.get('sslmode');
  if (mode === null) return { url: address, isTls: false };
  if (mode !== 'disable' && mode !== 'verify-full')
    throw new InvalidEnvironment([
      `DATABASE_URL: sslmode=${mode} does not make sure who answers: write sslmode=verify-full, or disable`,
    ]);
  const plain = addressesIn(address).map((each) => each.replace(SSL_MODE, '').replace(/\?$/, ''));
  return { url: plain.join(','), isTls: mode === 'verify-full' };
}

/** TLS by `rediss://` or `rediss+sentinel://`. Throws InvalidEnvironment if the settings contradict each other. */
export const redisAddress = (settings: RedisAddressSettings): ServerAddress => readable(settings, 'REDIS_URL', redisAt);

function redisAt(url: string, settings: TlsSettings): ServerAddress {
  const isTls = /^rediss(\+sentinel)?:/i.test(url);
  if (namesSentinels(url) && masterNameOf(url) === '')
    throw new InvalidEnvironment(['REDIS_URL: names no master: write redis+sentinel://<sentinels>/<master>']);
  if (namesSentinels(url) && !namesMaster(url))
    throw new InvalidEnvironment([
      'REDIS_URL: is not redis+sentinel://<user>:<password>@<sentinels>/<master>/<number of the database>, percent-encoded',
    ]);
  requireAlike('REDIS_URL', url);
  if (!namesSentinels(url) && addressesIn(url).length > 1)
    throw new InvalidEnvironment(['REDIS_URL: names several servers: write redis+sentinel://<sentinels>/<master>']);
  return addressOf(url, isTls, settings);
}

/** The port of a sentinel, unless its address names another. */
const SENTINEL_PORT = 26_379;

/** Whether the address names sentinels instead of Redis itself. */
export const namesSentinels = (url: string): boolean => /^rediss?\+sentinel:/i.test(url);

/** Returns the master's name in `redis+sentinel://s1:26379,s2:26379/name/0`; empty if it is left out. */
const masterNameOf = (url: string): string => pathOf(url)[0] ?? '';

/** Whether such an address can be decoded: its percent-encoding and its database number. */
function namesMaster(url: string): boolean {
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
      return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || SENTINEL_PORT };
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

/** Reads an address, so that it can be read again from where its settings came. */
function readable<U extends string>(settings: TlsSettings & UrlOf<U>, name: U, read: ReadAddress): ServerAddress {
  const source = readAgain<TlsSettings & UrlOf<U>, U | keyof TlsSettings>(settings, [name, ...TLS_SETTINGS]);
  const address = read(settings[name] ?? '', settings);
  if (source === undefined) return address;
  const again = {
    file: source.file,
    read: () => {
      const now = source.read();
      return { ...read(now[name] ?? '', now), again };
    },
  };
  return { ...address, again };
}

/** Throws if several addresses differ in more than their hosts: the rest is read from the first. */
function requireAlike(name: string, url: string): void {
  const parsed = addressesIn(url).map((each) => URL.parse(each));
  const rest = parsed.map((each) => each && Object.assign(each, { host: 'any', port: '' }).href);
  if (new Set(rest).size > 1)
    throw new InvalidEnvironment([
      `${name}: its addresses differ in more than their hosts: write <host>:<port>,<host>:<port>`,
    ]);
}

function addressOf(url: string, isTls: boolean, settings: TlsSettings): ServerAddress {
  const { TLS_CA: ca, TLS_CERTIFICATE: cert, TLS_KEY: key } = settings;
  if ((cert === '') !== (key === ''))
    throw new InvalidEnvironment(['TLS_CERTIFICATE, TLS_KEY: one is of no use without the other']);
  if (cert !== '' && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new InvalidEnvironment(['TLS_KEY: is not the key of TLS_CERTIFICATE, or that does not come first there']);
  return isTls ? { url, tls: { ...(ca !== '' && { ca }), ...(cert !== '' && { cert, key }) } } : { url };
}

const ENCRYPTED = /^(amqps|rediss(\+sentinel)?):|[?&]sslmode=verify-full/i;

type ServerUrls = 'AMQP_URL' | 'ADMIN_AMQP_URL' | 'DATABASE_URL' | 'REDIS_URL';

/**
 * Throws InvalidEnvironment if settings for TLS are given, and none of the three servers is encrypted. A process that does not know
 * all three cannot tell: they hold for the others too.
 */
export function requireUseOfTls(settings: {
  [name in keyof TlsSettings | ServerUrls]?: string | undefined;
}): void {
  const given = (['TLS_CA', 'TLS_CERTIFICATE'] as const).find((name) => (settings[name] ?? '') !== '');
  const urls = [settings.AMQP_URL ?? settings.ADMIN_AMQP_URL, settings.DATABASE_URL, settings.REDIS_URL];
  if (given === undefined || urls.some((url) => url === undefined || ENCRYPTED.test(url))) return;
  throw new InvalidEnvironment([
    `${given}: is set, but nothing would be encrypted: write amqps:// in AMQP_URL, sslmode=verify-full in DATABASE_URL, rediss:// in REDIS_URL`,
  ]);
}
