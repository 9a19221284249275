import { randomUUID } from 'node:crypto';
import { JsonNumber } from '@waybell/events/json';
import { readTimestamp } from '@waybell/events/timestamp';
import { activitiesIn, type Activities } from '../activities.ts';
import { deactivationsIn, type Deactivations, sweep, type SweepResult } from '../sweep.ts';
import { rememberedVehiclesIn, type RememberedVehicles } from '../remembered-vehicles.ts';
import type { LocationReport } from '../report.ts';
import { SEEN_TOGETHER, seeTogether, type Changes, type SeeReports } from '../see-together.ts';
import { RunGatherer } from '@waybell/line/hand-over/gatherers';
import type { Publication } from '@waybell/line/messages';
import { publishClaimedBy } from '@waybell/line/testing/publish-claimed-by';
import { connectPostgres, type Postgres } from '@waybell/runtime/postgres';
import { systemClock } from '@waybell/runtime/clock';
import { borrowRedis } from '@waybell/runtime/testing/borrow';
import { connectRedis, type Redis as Client } from '@waybell/runtime/redis';
import { createTestDatabase, type TestDatabase } from '@waybell/runtime/testing/database';
import { silentLog } from '@waybell/runtime/testing/patience';

export const HOUR_MS = 3_600_000;
export const START = Date.parse('2026-11-20T09:30:00Z');
export const rules = { distanceM: 1_000, silenceMs: HOUR_MS };

/** An announcement of a sweep, as the router would read it. */
export type Announced = { guid: string; shipper: string; vehicles: string[]; body: string };

/** Sees a report, together with those that come with it. */
export type SeeReport = (report: LocationReport) => Promise<Changes>;

export type SweepTools = { publish?: (publication: Publication) => Promise<void>; isCaughtUp?: () => Promise<boolean> };

/** The tracker's parts on a Postgres and a Redis, without a broker and with a clock of its own. */
export class Tracker implements AsyncDisposable {
  now = START;
  readonly announced: Announced[] = [];
  readonly store: TestDatabase;
  readonly redis: Client;
  readonly deactivations: Deactivations;
  readonly remembered: RememberedVehicles;
  readonly activities: Activities;
  readonly #postgres: Postgres;

  private constructor(store: TestDatabase, { claimMs, redisUrl }: { claimMs: number; redisUrl: string }) {
    this.store = store;
    const options = { url: store.url, role: 'waybell_tracker', poolSize: 5, timeoutMs: 60_000, log: silentLog };
    this.#postgres = connectPostgres(options);
    this.redis = connectRedis({ url: redisUrl, timeoutMs: 60_000, log: silentLog });
    this.activities = activitiesIn(this.#postgres);
    this.deactivations = deactivationsIn(this.#postgres, { claimMs, onAnnounced: () => undefined });
    this.remembered = rememberedVehiclesIn(this.redis, { rememberMs: 24 * HOUR_MS });
  }

  static async start({ claimMs = 60_000 }: { claimMs?: number } = {}): Promise<Tracker> {
    const { url: redisUrl } = await borrowRedis();
    const tracker = new Tracker(await createTestDatabase(), { claimMs, redisUrl });
    // Refused until it is connected.
    await new Promise((resolve) => tracker.redis.once('ready', resolve));
    return tracker;
  }

  /** Deletes everything. */
  async empty(): Promise<void> {
    await this.store.postgres.query('truncate waybell.tracked_vehicles, waybell.gps_deactivations');
    await this.forgetAll();
    this.now = START;
    this.announced.length = 0;
  }

  /** A process' way to see reports: each has batches of its own. */
  replica(remembered: RememberedVehicles = this.remembered, activities: Activities = this.activities): SeeReport {
    return gathered(seeTogether({ activities, remembered, rules, now: () => this.now }));
  }

  async sweep({
    publish = async () => undefined,
    isCaughtUp = async () => true,
  }: SweepTools = {}): Promise<SweepResult> {
    return sweep({
      deactivations: this.deactivations,
      remembered: this.remembered,
      rules,
      rememberMs: 24 * HOUR_MS,
      now: () => this.now,
      isCaughtUp,
      announce: () =>
        publishClaimedBy(this.deactivations, async (publication) => {
          await publish(publication);
          this.announced.push(readAnnounced(publication));
        }),
    });
  }

  async forgetAll(): Promise<void> {
    await this.redis.flushdb();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.redis[Symbol.asyncDispose]();
    await this.#postgres[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

/** Gathers reports as the step does. */
function gathered(see: SeeReports): SeeReport {
  const answers: PromiseWithResolvers<Changes>[] = [];
  const batches = new RunGatherer<LocationReport>({
    ...SEEN_TOGETHER,
    clock: systemClock,
    async run({ members, messages }) {
      const changes = await see(messages).catch((error: unknown) => ({ error }));
      members.forEach((member, place) => {
        if ('error' in changes) answers[member]?.reject(changes.error);
        else answers[member]?.resolve(changes[place] ?? { activated: [], moved: [] });
      });
    },
  });
  let came: { members: number[]; messages: LocationReport[] } = { members: [], messages: [] };
  return (report) => {
    const answer = Promise.withResolvers<Changes>();
    came.messages.push(report);
    if (came.members.push(answers.push(answer) - 1) === 1)
      process.nextTick(() => {
        const batch = came;
        came = { members: [], messages: [] };
        batches.add(batch, { isAlone: false });
      });
    return answer.promise;
  };
}

export function aReport(
  what: Partial<Pick<LocationReport, 'guid' | 'shipper' | 'recordedAt'>> & {
    vehicles?: string[];
    latitude?: number;
    longitude?: number;
    isPickedUp?: boolean;
  } = {},
): LocationReport {
  const { vehicles = [randomUUID()], latitude = 52.5, longitude = 13.4, isPickedUp = true, ...rest } = what;
  const occurredAt = readTimestamp('2026-11-20T09:30:00Z');
  if (occurredAt === null) throw new Error('no timestamp');
  return {
    guid: randomUUID(),
    shipper: randomUUID(),
    recordedAt: START,
    occurredAt,
    longitude: new JsonNumber(String(longitude)),
    address: '',
    latitude: new JsonNumber(String(latitude)),
    vehicles: vehicles.map((guid) => ({ guid, isPickedUp })),
    ...rest,
  };
}

function readAnnounced({ body, messageId = '' }: Publication): Announced {
  // The tracker's own words; tests compare them.
  const event = JSON.parse(body.toString()) as {
    parties: { shipper: string };
    payload: { vehicle_guids: string[] };
  };
  return {
    guid: messageId,
    shipper: event.parties.shipper,
    vehicles: event.payload.vehicle_guids,
    body: body.toString(),
  };
}
