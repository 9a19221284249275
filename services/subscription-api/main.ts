import { ClockWatch } from '@waybell/runtime/clock-watch';
import { configOrExit } from '@waybell/runtime/environment';
import { startProcess } from '@waybell/runtime/process-parts';
import { connectRedis } from '@waybell/runtime/redis';
import { readConfig } from './config.ts';
import { openDatabase } from './database.ts';
import { startPruning } from './prune-audit-log.ts';
import { openSubscriptionApi } from './subscription-api.ts';

const config = configOrExit(readConfig);

await using parts = await startProcess('subscription-api', config.process);
await using database = openDatabase({ ...config.postgres, log: parts.log });
parts.readiness.watch(database.waitingFor);
await using _clocks = new ClockWatch({ ask: database.askLog, limitMs: config.clockLimitMs, ...parts });
await using _pruning = startPruning({ database, retentionMs: config.auditRetentionMs, log: parts.log });
await using redis = connectRedis({ ...config.redis, log: parts.log });
await using hearing = connectRedis({ ...config.redis, log: parts.log });

await using api = openSubscriptionApi({ config, parts, database, redis, hearing });
await using _listening = await api.listen();
await parts.shutdown.untilBegun();
