import { createPrivateKey, X509Certificate } from 'node:crypto';
import { addressesIn } from './addresses-in.ts';
import { InvalidEnvironment } from './environment.ts';
import { masterNameOf, namesMaster, namesSentinels } from './redis-sentinels.ts';

/**
 * PEM: the authorities that may sign the server's certificate, and this process's own certificate and key if the server requests
 * one.
 */
export type ServerTls = { ca?: string | undefined; cert?: string | undefined; key?: string | undefined };

/**
 * The address of a server, or of a cluster's nodes. With `tls`, the server's certificate must be valid for the host of `url` and
 * signed by a trusted authority.
 */
export type ServerAddress = {
  url: string;
  tls?: ServerTls;
  /** The running stack provided it, not a setting; for messages. */
  isOfStack?: boolean;
};

export type BrokerAddressSettings = { AMQP_URL: string } & Record<'AMQP_CA' | 'AMQP_CERTIFICATE' | 'AMQP_KEY', string>;
export type PostgresAddressSettings = { DATABASE_URL: string } & Record<
  'DATABASE_CA' | 'DATABASE_CERTIFICATE' | 'DATABASE_KEY',
  string
>;
export type RedisAddressSettings = { REDIS_URL: string } & Record<
  'REDIS_CA' | 'REDIS_CERTIFICATE' | 'REDIS_KEY',
  string
>;

/**
 * Reads the address of one node or of several of one cluster. TLS by `amqps://`. Throws InvalidEnvironment if the settings
 * contradict each other.
 */
export function brokerAddress({ AMQP_URL: url, ...settings }: BrokerAddressSettings): ServerAddress {
  const { AMQP_CA: ca, AMQP_CERTIFICATE: cert, AMQP_KEY: key } = settings;
  const isTls = /^amqps:/i.test(url);
  const clusters = addressesIn(url).map((node) => `${URL.parse(node)?.protocol}${URL.parse(node)?.pathname}`);
  if (new Set(clusters).size > 1)
    throw new InvalidEnvironment([
      'AMQP_URL: its addresses are not of one cluster: they differ in amqp:// or amqps://, or in the virtual host',
    ]);
  return addressOf({ prefix: 'AMQP', url, isTls, how: 'does not begin with amqps://', ca, cert, key });
}

/** TLS by `rediss://` or `rediss+sentinel://`. Throws InvalidEnvironment if the settings contradict each other. */
export function redisAddress({ REDIS_URL: url, ...settings }: RedisAddressSettings): ServerAddress {
  const { REDIS_CA: ca, REDIS_CERTIFICATE: cert, REDIS_KEY: key } = settings;
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
  return addressOf({ prefix: 'REDIS', url, isTls, how: 'does not begin with rediss', ca, cert, key });
}

/**
 * TLS by `sslmode=verify-full`. Throws InvalidEnvironment if the settings contradict each other, and for modes that encrypt
 * without verifying the server.
 */
export function postgresAddress({ DATABASE_URL, ...settings }: PostgresAddressSettings): ServerAddress {
  const { DATABASE_CA: ca, DATABASE_CERTIFICATE: cert, DATABASE_KEY: key } = settings;
  requireAlike('DATABASE_URL', DATABASE_URL);
  const { url, isTls } = readSslMode(DATABASE_URL);
  return addressOf({ prefix: 'DATABASE', url, isTls, how: 'has no sslmode=verify-full', ca, cert, key });
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

type AddressParts = { prefix: string; url: string; isTls: boolean; how: string } & Record<
  'ca' | 'cert' | 'key',
  string
>;

function addressOf({ prefix, url, isTls, how, ca, cert, key }: AddressParts): ServerAddress {
  const given = Object.entries({ CA: ca, CERTIFICATE: cert, KEY: key }).filter(([, value]) => value !== '');
  const [first] = given;
  if (first !== undefined && !isTls)
    throw new InvalidEnvironment([
      `${prefix}_${first[0]}: is set, but ${prefix}_URL ${how}: nothing would be encrypted`,
    ]);
  if ((cert === '') !== (key === ''))
    throw new InvalidEnvironment([`${prefix}_CERTIFICATE, ${prefix}_KEY: one is of no use without the other`]);
  if (!isTls) return { url };
  if (cert !== '' && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new InvalidEnvironment([
      `${prefix}_KEY: is not the key of ${prefix}_CERTIFICATE, or that does not come first there`,
    ]);
  return { url, tls: { ...(ca !== '' && { ca }), ...(cert !== '' && { cert, key }) } };
}

/** Includes the separator that joins the parameter to the others: before it or, if it is the first, after it. */
const SSL_MODE = /(?<=\?)sslmode=[^&#]*(&|(?=#|$))|&sslmode=[^&#]*/;

/** Parameters that pg itself would read, some of them as "encrypt, and trust any server". */
const OTHER_PARAMETERS = ['ssl', 'sslcert', 'sslkey', 'sslrootcert', 'uselibpqcompat'];

/** libpq's words for a server that takes writes, and for one that is no standby: Waybell needs both. */
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
      `DATABASE_URL: "${other}" is not read: write sslmode=verify-full, and name files by DATABASE_CA_FILE, DATABASE_CERTIFICATE_FILE and DATABASE_KEY_FILE`,
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
