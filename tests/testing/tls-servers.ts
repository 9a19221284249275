import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import { startServers } from '@waybell/stack/servers';
import { freePort } from '@waybell/stack/ports';
import { unprivilegedUser } from '@waybell/stack/programs';
import { anAuthority, type Certificate } from '@waybell/runtime/testing/certificate';
import { nothingLeftBehind } from './left-behind.ts';

/** Private servers with TLS. RabbitMQ and Redis require a client certificate, too. */
export type TlsServers = AsyncDisposable & {
  /** A folder of the test's own. */
  home: string;
  /** URLs with the name that the servers' certificates hold for. */
  urls: { AMQP_URL: string; DATABASE_URL: string; REDIS_URL: string };
  /** Postgres answers without TLS as well. */
  plainDatabaseUrl: string;
  /** Paths: of the authority that vouches for servers and clients, of a client's certificate, and of its key. */
  files: { ca: string; certificate: string; key: string };
  /** Has the servers show certificates that held until yesterday. */
  expire(): Promise<void>;
};

const HOST = 'localhost';
const DAY_MS = 86_400_000;

export async function startTlsServers(): Promise<TlsServers> {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'waybell-tls-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  stack.defer(() => nothingLeftBehind([home]));
  chmodSync(home, 0o711);
  const authority = anAuthority('servers of a test');
  const write = (name: string, certificate: Certificate) => writeCertificate(join(home, name), certificate);
  const server = write('server', authority.issue({ name: HOST }));
  const client = write('client', authority.issue({ name: 'waybell' }));
  const ca = write('ca', authority).certificate;

  const [brokerPort, redisPort] = [await freePort({ taken: new Set() }), await freePort({ taken: new Set() })];
  const configuration = [
    `listeners.ssl.1 = 127.0.0.1:${brokerPort}`,
    `ssl_options.cacertfile = ${ca}`,
    `ssl_options.certfile = ${server.certificate}`,
    `ssl_options.keyfile = ${server.key}`,
    'ssl_options.verify = verify_peer',
    'ssl_options.fail_if_no_peer_cert = true',
  ];
  const servers = stack.use(await startServers({ home: join(home, 'servers'), configuration }));
  const [postgres, redis] = [servers.url('postgres'), servers.url('redis')];
  await encryptPostgres(postgres, server);
  await encryptRedis(redis, { ...server, ca });
  await askRedis(redis, ['tls-port', redisPort]);

  const begun = stack.move();
  return {
    home,
    urls: {
      AMQP_URL: encrypted(servers.url('rabbitmq'), brokerPort),
      // The second is away: of several hosts each is checked by its own name.
      DATABASE_URL: `${postgres.replace(/127\.0\.0\.1:\d+/, (place) => `${place.replace('127.0.0.1', HOST)},${HOST}:1`)}?sslmode=verify-full`,
      REDIS_URL: encrypted(redis, redisPort),
    },
    plainDatabaseUrl: postgres,
    files: { ca, ...client },
    async expire() {
      const expired = authority.issue({ name: HOST, notAfter: new Date(Date.now() - DAY_MS) });
      // In their places: a broker looks there again.
      const files = write('server', expired);
      await rabbitmqctl(servers.process('rabbitmq').spec, 'eval', 'ssl:clear_pem_cache().');
      await encryptPostgres(postgres, files);
      await encryptRedis(redis, { ...write('expired', expired), ca });
    },
    [Symbol.asyncDispose]: () => begun.disposeAsync(),
  };
}

type Files = { certificate: string; key: string };

function writeCertificate(path: string, { cert, key }: Certificate): Files {
  const files = { certificate: `${path}.pem`, key: `${path}-key.pem` };
  writeFileSync(files.certificate, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  return files;
}

const encrypted = (url: string, port: number): string => url.replace(/^(\w+):(.*@)[^/]*/, `$1s:$2${HOST}:${port}`);

async function encryptPostgres(url: string, { certificate, key }: Files): Promise<void> {
  const user = unprivilegedUser();
  if (user !== undefined) chownSync(key, user.uid, user.gid);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const [name, value] of Object.entries({ ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key })) {
      await client.query(`alter system set ${name} = ${client.escapeLiteral(value)}`);
    }
    await client.query('select pg_reload_conf()');
  } finally {
    await client.end();
  }
}

async function encryptRedis(url: string, { certificate, key, ca }: Files & { ca: string }): Promise<void> {
  await askRedis(url, ['tls-cert-file', certificate, 'tls-key-file', key, 'tls-ca-cert-file', ca]);
}

async function askRedis(url: string, settings: (string | number)[]): Promise<void> {
  const redis = new Redis(url);
  try {
    await redis.config('SET', ...settings);
  } finally {
    redis.disconnect();
  }
}
