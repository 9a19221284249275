import { Redis } from 'ioredis';
import pg from 'pg';
import type { Scenario } from '../lib/scenario.ts';
import { timeBetween } from '../lib/measure.ts';
import { startTrackerStand, type TrackerStand } from '../lib/tracker-stand.ts';

const SHIPPERS = 2_000;
const SILENT_PART = 10;
const SEED_BATCH = 10_000;
const LIMIT_MS = 300_000;
const ANNOUNCED = { name: 'waybell_gps_vehicles_total', label: 'change="deactivated"' };
const SWEEP_SECONDS = { name: 'waybell_gps_sweep_duration_seconds_sum', label: 'result="done"' };

export const silence: Scenario = {
  name: 'silence',
  description: 'a tenth of a million vehicles falls silent at once: how long until all are announced',
  async run({ isQuick, tell }) {
    const vehicles = isQuick ? 100_000 : 1_000_000;
    // Not at once: the tracker starts while the tables are still empty.
    await using stand = await startTrackerStand({ GPS_SWEEP_INTERVAL: '2s' });
    await stand.tracker.stop();
    tell(`${vehicles} vehicles`);
    const memory = await seedVehicles(stand, vehicles);
    await stand.tracker.start();
    const silent = vehicles / SILENT_PART;
    const seenMs = await timeBetween(() => stand.figure(ANNOUNCED), { from: 1, least: silent, limitMs: LIMIT_MS });
    await timeBetween(() => stand.figure(SWEEP_SECONDS), { from: 0, least: 0.001, limitMs: LIMIT_MS });
    const seconds = await stand.figure(SWEEP_SECONDS);
    return {
      workload: `${vehicles} active vehicles of ${SHIPPERS} shippers, ${silent} of them last seen more than an hour ago, the exact times in Redis; one tracker.`,
      settings: { vehicles, silent, shippers: SHIPPERS },
      rounds: { sweep: [{ seconds, seenMs, ...memory }] },
      tables: [
        {
          title: 'One sweep',
          columns: ['vehicles', 'silent', 'seconds', 'Redis, bytes per vehicle', 'Postgres, bytes per vehicle'],
          rows: [[String(vehicles), String(silent), seconds, memory.redisBytes, memory.postgresBytes]],
        },
      ],
      checks: [{ what: 'seconds until all silent vehicles are announced', figure: seconds, bar: { atMost: 10 } }],
    };
  },
};

/** Fills the tables and Redis as so many reports would have; resolves with what a vehicle takes up there. */
async function seedVehicles({ stack: { servers } }: TrackerStand, vehicles: number) {
  const postgres = new pg.Client({ connectionString: servers.url('postgres') });
  const redis = new Redis(servers.url('redis'));
  await postgres.connect();
  const now = Date.now();
  const emptyBytes = await usedBytes(redis);
  for (let from = 0; from < vehicles; from += SEED_BATCH) {
    const { rows } = await postgres.query<SeededRow>(SEED, [from, from + SEED_BATCH - 1, SHIPPERS, SILENT_PART, now]);
    const writes = redis.pipeline();
    for (const { shipper, vehicle, ms, report } of rows) {
      writes.set(
        `waybell:vehicle:1:${shipper}:${vehicle}`,
        `${ms} 52.50123 13.40456 ${report} ${ms} 1 ${report}`,
        'PX',
        604_800_000,
      );
    }
    await writes.exec();
  }
  await postgres.query('vacuum analyze waybell.tracked_vehicles');
  const size = await postgres.query<{ bytes: string }>(
    "select pg_total_relation_size('waybell.tracked_vehicles') as bytes",
  );
  const redisBytes = (await usedBytes(redis)) - emptyBytes;
  await postgres.end();
  redis.disconnect();
  return {
    redisBytes: Math.round(redisBytes / vehicles),
    postgresBytes: Math.round(Number(size.rows[0]?.bytes) / vehicles),
  };
}

type SeededRow = { shipper: string; vehicle: string; ms: number; report: string };

const SEED = `
  insert into waybell.tracked_vehicles (shipper_guid, vehicle_guid, is_active, last_seen_at, activated_by)
  select md5('shipper ' || n % $3)::uuid, gen_random_uuid(), true,
    to_timestamp(($5::float8 - case when n % $4 = 0 then 3900000 else 0 end) / 1000), gen_random_uuid()
  from generate_series($1::int, $2::int) n
  returning shipper_guid as shipper, vehicle_guid as vehicle, activated_by as report,
    round(extract(epoch from last_seen_at) * 1000)::float8 as ms`;

async function usedBytes(redis: Redis): Promise<number> {
  const [, bytes] = /used_memory:(\d+)/.exec(await redis.info('memory')) ?? [];
  return Number(bytes);
}
