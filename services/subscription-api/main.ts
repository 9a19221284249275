import { ClockWatch } from '@waybell/runtime/clock-watch';
import { configOrExit } from '@waybell/runtime/environment';
import { Login } from '@waybell/runtime/login';
import { applicationName, type Queryable } from '@waybell/runtime/postgres';
import { startProcess } from '@waybell/runtime/process-parts';
import { connectRedis } from '@waybell/runtime/redis';
import { raiseSequences, relyOnPostgres, relyOnRedis } from '@waybell/runtime/reliance';
import { startPruning } from './audit-log.ts';
import { readConfig } from './config.ts';
import { openDatabase } from './database.ts';
import { openSubscriptionApi } from './subscription-api.ts';

const config = configOrExit(readConfig);

await using parts = await startProcess('subscription-api', config.process);
const logins = { postgres: new Login('Postgres', config.postgres), redis: new Login('Redis', config.redis) };
for (const login of Object.values(logins)) parts.readiness.watch(() => login.waitingFor());
const postgres = { ...config.postgres, login: logins.postgres, log: parts.log };
await using database = openDatabase(postgres);
parts.readiness.watch(database.waitingFor);
await using _clocks = new ClockWatch({ ask: database.askLog, limitMs: config.clockLimitMs, ...parts });
await using _pruning = startPruning({ database, retentionMs: config.auditRetentionMs, log: parts.log });
const named = {
  name: applicationName('subscription-api'),
  also: (asked: Queryable) => raiseSequences(asked, parts.log),
};
await using _postgres = relyOnPostgres({ ...postgres, ...named }, parts);
const redisOptions = { ...config.redis, login: logins.redis, log: parts.log };
await using redis = connectRedis(redisOptions);
await using hearing = connectRedis(redisOptions);
await using _redis = relyOnRedis(redis, parts);

await using api = openSubscriptionApi({ config, parts, database, redis, hearing });
await using _listening = await api.listen();
await parts.shutdown.untilBegun();
