import { randomUUID } from 'node:crypto';
import { JsonNumber } from '@waybell/events/json';
import { readTimestamp } from '@waybell/events/timestamp';
import { activitiesIn } from '@waybell/location-tracker/activities';
import { rememberedVehiclesIn } from '@waybell/location-tracker/remembered-vehicles';
import type { LocationReport } from '@waybell/location-tracker/report';
import { SEEN_TOGETHER, seeTogether } from '@waybell/location-tracker/see-together';
import { createLog } from '@waybell/runtime/log';
import { connectPostgres } from '@waybell/runtime/postgres';
import { connectRedis, type Redis } from '@waybell/runtime/redis';
import { serve } from '../lib/part.ts';

/** The state of vehicles without a queue before it: as the tracker keeps it, and as bare writes of the same size. */
export type StateKeeperCommands = typeof commands;

/** Writes at once: as many messages as the tracker holds. */
const AT_ONCE = 1_000;
/** The length of what the tracker stores about a vehicle. */
const VALUE = 'x'.repeat(130);
const KEPT_MS = 604_800_000;
const RULES = { distanceM: 1_000, silenceMs: 3_600_000 };
const JITTER_DEGREES = 0.001;
const log = createLog({ service: 'bench', level: 'error' });

type StateWork = { databaseUrl: string; redisUrl: string; count: number; vehicles: number };

const commands = {
  /** Sees so many reports, of vehicles that are known and move little; resolves with how many a second. */
  async see({ databaseUrl, redisUrl, count, vehicles }: StateWork): Promise<number> {
    await using redis = await ready(redisUrl);
    await using postgres = connectPostgres({
      url: databaseUrl,
      role: 'waybell_tracker',
      poolSize: 5,
      timeoutMs: 5_000,
      log,
    });
    const remembered = rememberedVehiclesIn(redis, { rememberMs: KEPT_MS });
    const see = seeTogether({ activities: activitiesIn(postgres), remembered, rules: RULES, now: Date.now });
    const shipper = randomUUID();
    const guids = Array.from({ length: vehicles }, () => randomUUID());
    const some = (from: number, size: number) =>
      see(Array.from({ length: size }, (_, place) => aReport(shipper, guids[(from + place) % vehicles] ?? '')));
    // A vehicle occurs once in a batch.
    const work = { atOnce: Math.min(vehicles, SEEN_TOGETHER.largest), some };
    await inGroups(vehicles, work);
    return await perSecond(count, work);
  },

  /** Writes as many values; resolves with how many a second. */
  async write({ redisUrl, count, vehicles }: StateWork): Promise<number> {
    await using redis = await ready(redisUrl);
    const one = (place: number) => redis.set(`bare:${randomKey(place % vehicles)}`, VALUE, 'PX', KEPT_MS);
    const some = (from: number, size: number) =>
      Promise.all(Array.from({ length: size }, (_, place) => one(from + place)));
    const work = { atOnce: AT_ONCE, some };
    await inGroups(vehicles, work);
    return await perSecond(count, work);
  },
};

type GroupWork = { atOnce: number; some: (from: number, size: number) => Promise<unknown> };

async function perSecond(count: number, work: GroupWork): Promise<number> {
  const beganAt = performance.now();
  await inGroups(count, work);
  return (count / (performance.now() - beganAt)) * 1_000;
}

async function inGroups(count: number, { atOnce, some }: GroupWork): Promise<void> {
  for (let done = 0; done < count; done += atOnce) await some(done, Math.min(atOnce, count - done));
}

async function ready(url: string): Promise<Redis> {
  const redis = connectRedis({ url, timeoutMs: 10_000, log });
  await new Promise((resolve) => redis.once('ready', resolve));
  return redis;
}

/** A key as long as a shipper's guid and a vehicle's. */
function randomKey(place: number): string {
  return String(place).padStart(73, '0');
}

const occurredAt = readTimestamp(new Date().toISOString()) ?? { second: '', nanoseconds: '' };

function aReport(shipper: string, vehicle: string): LocationReport {
  return {
    guid: randomUUID(),
    occurredAt,
    shipper,
    vehicles: [{ guid: vehicle, isPickedUp: true }],
    latitude: new JsonNumber(String(52.5 + Math.random() * JITTER_DEGREES)),
    longitude: new JsonNumber('13.4'),
    recordedAt: Date.now(),
    address: '',
  };
}

serve(commands);
