import type { Stack } from '@waybell/stack/stack';
import { runBroken, type Ended } from './broken-service.ts';
import type { Planted } from './planted.ts';

/** An uncaught error that carries what libraries attach to theirs. */
const THROWN = `Object.assign(new Error('broken on purpose', { cause: Object.assign(new TypeError('Invalid URL'), {
  code: 'ERR_INVALID_URL', input: process.env.DATABASE_URL }) }), {
  command: { name: 'auth', args: [process.env.SECRET_KEYS] }, config: { headers: process.env } })`;

/** Runs as soon as the process watches for such errors. */
const onceWatched = (what: string) =>
  `const timer = setInterval(() => { if (process.listenerCount('uncaughtException') === 0) return;
   clearInterval(timer); ${what} }, 10)`;

const nodeImports = (code: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` });

/** Starts services that cannot run, or will not for long, each with secrets in its settings. Resolves with what they wrote. */
export async function breakServices(planted: Planted, stack: Stack): Promise<Map<string, Ended>> {
  const [deliverer, api] = [stack.service('deliverer'), stack.service('subscription-api')];
  const secret = () => planted.plant('password of a wrong setting');
  const address = (name: string, user = 'nobody') =>
    deliverer.spec.env[name]?.replace(/\/\/[^@]*@/, `//${user}:${secret()}@`) ?? '';
  const refusals = ['broker.connect-failed', 'redis.connection-lost'];
  const runs: Record<string, () => Promise<Ended>> = {
    'an error thrown': () => runBroken(deliverer, nodeImports(onceWatched(`throw ${THROWN}`))),
    'a promise rejected': () => runBroken(api, nodeImports(onceWatched(`Promise.reject(${THROWN})`))),
    'passwords that are wrong': () =>
      runBroken(api, { DATABASE_URL: address('DATABASE_URL'), REDIS_URL: address('REDIS_URL') }, [
        'WRONGPASS',
        'password authentication failed',
      ]),
    'passwords that are wrong for the line': () =>
      runBroken(deliverer, { AMQP_URL: address('AMQP_URL'), REDIS_URL: address('REDIS_URL') }, refusals),
    'addresses that are no URLs': () =>
      runBroken(deliverer, {
        AMQP_URL: `amqp://me:${secret()}@[rabbitmq/`,
        DATABASE_URL: `postgres://me:${secret()}@[postgres/`,
        REDIS_URL: `redis://me:${secret()}@[redis/`,
      }),
    'addresses of another kind': () =>
      runBroken(deliverer, {
        AMQP_URL: `me:${secret()}@rabbitmq`,
        DATABASE_URL: `me:${secret()}@postgres/waybell`,
        REDIS_URL: `/me:${secret()}@redis`,
        CALLBACK_PROXY: `socks5://me:${secret()}@proxy`,
      }),
    'certificates that are none': () =>
      runBroken(deliverer, {
        REDIS_URL: address('REDIS_URL').replace('redis:', 'rediss:'),
        TLS_CERTIFICATE: `-----BEGIN CERTIFICATE-----\n${secret()}\n-----END CERTIFICATE-----\n`,
        TLS_KEY: `-----BEGIN PRIVATE KEY-----\n${secret()}\n-----END PRIVATE KEY-----\n`,
      }),
    'keys that are none': () => runBroken(api, { SECRET_KEYS: `${secret()},a:${secret()}` }),
  };
  const ended = new Map<string, Ended>();
  for (const [name, run] of Object.entries(runs)) ended.set(name, await run());
  return ended;
}
