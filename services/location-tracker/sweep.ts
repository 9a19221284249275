/**
 * Finds vehicles that have fallen silent, switches them off and has that announced, once each, by any number of replicas.
 *
 *   active ── noted before the silence limit ──▶ candidate ── Redis has no later sighting ──▶ switched off, stored to be announced
 *     ▲                                             │                                           │ claimed, published, confirmed
 *     └────── seen since: it stays as it is ────────┘                                           ▼
 *                                                                                            deleted from what is to be announced
 *
 * While reports wait in the queue, no vehicle counts as silent: its own may be among them.
 */
import { readTimestamp } from '@waybell/events/timestamp';
import type { Broker, Depth } from '@waybell/line/broker';
import type { ClaimedRows } from '@waybell/line/outbox/claimed-rows';
import type { PublishingClaimed } from '@waybell/line/outbox/publish-claimed';
import type { Publication } from '@waybell/line/messages';
import type { RunningStep } from '@waybell/line/run-step';
import { locationsQueue } from '@waybell/line/topology';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import { publishAnnouncement } from './announcement.ts';
import type { Config } from './config.ts';
import type { RememberedVehicles } from './remembered-vehicles.ts';
import { isSilent, seenAtLatest, type TrackingRules, type VehicleKey } from './vehicle.ts';

/**
 * `behind`: reports wait, so no vehicle can be called silent. `unconfirmed`: the broker did not confirm all announcements;
 * vehicles not yet switched off wait for that.
 */
export type SweepResult = 'done' | 'behind' | 'unconfirmed';

type SweepBesideOptions = {
  broker: Pick<Broker, 'depth'>;
  deactivations: Deactivations;
  remembered: RememberedVehicles;
  announcing: Pick<PublishingClaimed, 'publishDue'>;
  config: Pick<Config, 'inHandLimit' | 'rules' | 'rememberMs'>;
};

/** Sweeps depending on the step that reads reports: while that is behind, waits or ends, no vehicle counts as silent. */
export function sweepBeside(
  tracking: Pick<RunningStep, 'waitingFor'>,
  { broker, deactivations, remembered, announcing, config }: SweepBesideOptions,
): (stop: AbortSignal) => Promise<SweepResult> {
  const depth = () => broker.depth([locationsQueue]);
  return (stop) =>
    sweep({
      ...config,
      deactivations,
      remembered,
      now: Date.now,
      isCaughtUp: async () =>
        !stop.aborted && tracking.waitingFor().length === 0 && isAtMost(config.inHandLimit.messages, await depth()),
      announce: () => announcing.publishDue(),
    });
}

/** If the broker does not know how many reports wait, a vehicle's own may be among them. */
function isAtMost(limit: number, { messages, isExact }: Depth): boolean {
  return isExact && messages <= limit;
}

type VehicleSweepOptions = {
  deactivations: Deactivations;
  remembered: RememberedVehicles;
  /** Announces vehicles switched off. Resolves with whether none is left except those claimed by others. */
  announce: () => Promise<boolean>;
  /** Returns whether no reports wait: a vehicle whose report waits is not silent. Called before each page. */
  isCaughtUp: () => Promise<boolean>;
  rules: TrackingRules;
  rememberMs: number;
  now: () => number;
};

/**
 * Announces vehicles that were switched off and not announced. Then finds silent vehicles, switches them off and announces them.
 * Any number of replicas may sweep at once.
 */
export async function sweep(options: VehicleSweepOptions): Promise<SweepResult> {
  const { announce, deactivations, rules, rememberMs, now } = options;
  if (!(await announce())) return 'unconfirmed';
  const at = now();
  let page = await deactivations.candidates(at - rules.silenceMs);
  while (page.length > 0) {
    if (!(await options.isCaughtUp())) return 'behind';
    await deactivations.switchOff(await silentAmong(page, at, options), at);
    if (!(await announce())) return 'unconfirmed';
    page = await deactivations.candidates(at - rules.silenceMs, page.at(-1));
  }
  await deactivations.forget(at - rememberMs);
  return 'done';
}

async function silentAmong(page: readonly SilentVehicle[], now: number, { remembered, rules }: VehicleSweepOptions) {
  const known = await remembered.read(page.map(({ shipper, vehicle }) => ({ shipper, vehicle })));
  return page.flatMap((candidate, place) => {
    const exactly = known[place]?.vehicle.track?.seenAt ?? null;
    if (!isSilent(seenAtLatest(candidate.notedAt, exactly, rules), { rules, now })) return [];
    return [{ ...candidate, seenAt: Math.max(candidate.notedAt, exactly ?? 0) }];
  });
}

/** An active vehicle whose `notedAt`, in milliseconds since the epoch, is too old. */
type SilentVehicle = VehicleKey & { notedAt: number };

/** Vehicles of a shipper that were switched off together, to be announced. */
export type Deactivation = { guid: string; shipper: string; vehicles: string[]; happenedAt: number };

/** Vehicles that fall silent, in Postgres. Throws `Unavailable` while that is away. */
export type Deactivations = ClaimedRows<Deactivation> & {
  /** Returns a page of the active vehicles noted before that time, in the order of their keys. */
  candidates(notedBefore: number, after?: VehicleKey): Promise<SilentVehicle[]>;
  /**
   * Switches off vehicles unless they changed since they were read, that is, were seen again. Stores them to be announced, at
   * most 1,000 vehicles each.
   */
  switchOff(silent: readonly (SilentVehicle & { seenAt: number })[], happenedAt: number): Promise<void>;
  /** Forgets some inactive vehicles that were last seen before that time. */
  forget(seenBefore: number): Promise<void>;
};

/** Candidates read at once: the statements for a page stay well within the time limit of one. */
const PAGE = 10_000;
/** Limit of groups claimed at once, each an event of up to 40 KB. */
const CLAIMED_AT_ONCE = 100;

const MS = (column: string) => `round(extract(epoch from ${column}) * 1000)::float8`;
const COLUMNS = `guid, shipper_guid as shipper, vehicle_guids as vehicles, ${MS('happened_at')} as "happenedAt"`;

const CANDIDATES = {
  name: 'silence-candidates',
  text: `select shipper_guid as shipper, vehicle_guid as vehicle, ${MS('last_seen_at')} as "notedAt"
         from waybell.tracked_vehicles
         where is_active and last_seen_at < to_timestamp($1::float8 / 1000)
           and (shipper_guid, vehicle_guid) > ($2::uuid, $3::uuid)
         order by shipper_guid, vehicle_guid limit ${PAGE}`,
};

const SWITCH_OFF = {
  name: 'switch-off',
  text: `
    with silent as (
      select shipper_guid, vehicle_guid, to_timestamp(noted_ms / 1000) as noted_at, to_timestamp(seen_ms / 1000) as seen_at
      from unnest($1::uuid[], $2::uuid[], $3::float8[], $4::float8[]) as s (shipper_guid, vehicle_guid, noted_ms, seen_ms)
    ), unchanged as (
      select shipper_guid, vehicle_guid, s.seen_at
      from waybell.tracked_vehicles t join silent s using (shipper_guid, vehicle_guid)
      where t.is_active and t.last_seen_at = s.noted_at
      order by shipper_guid, vehicle_guid for no key update of t skip locked
    ), switched_off as (
      update waybell.tracked_vehicles t set is_active = false, last_seen_at = u.seen_at
      from unchanged u where (t.shipper_guid, t.vehicle_guid) = (u.shipper_guid, u.vehicle_guid)
      returning t.shipper_guid, t.vehicle_guid
    ), batched as (
      select *, (row_number() over (partition by shipper_guid order by vehicle_guid) - 1) / 1000 as batch from switched_off
    )
    insert into waybell.gps_deactivations (guid, shipper_guid, vehicle_guids, happened_at, claimed_until)
    select gen_random_uuid(), shipper_guid, array_agg(vehicle_guid order by vehicle_guid), to_timestamp($5::float8 / 1000), now()
    from batched group by shipper_guid, batch`,
};

const CLAIM = {
  name: 'claim-gps-deactivations',
  text: `
    update waybell.gps_deactivations set claimed_until = now() + make_interval(secs => $1::float8 / 1000)
    where guid in (select guid from waybell.gps_deactivations where claimed_until <= now()
                   limit ${CLAIMED_AT_ONCE} for update skip locked)
    returning ${COLUMNS}`,
};

const DELETE = {
  name: 'settle-gps-deactivations',
  text: `delete from waybell.gps_deactivations where guid = any ($1::uuid[]) returning ${COLUMNS}`,
};

const FORGET = {
  name: 'forget-vehicles',
  text: `
    delete from waybell.tracked_vehicles where (shipper_guid, vehicle_guid) in (
      select shipper_guid, vehicle_guid from waybell.tracked_vehicles
      where not is_active and last_seen_at < to_timestamp($1::float8 / 1000) limit ${PAGE} for update skip locked)`,
};

const FIRST: VehicleKey = {
  shipper: '00000000-0000-0000-0000-000000000000',
  vehicle: '00000000-0000-0000-0000-000000000000',
};

type VehicleDeactivationsOptions = {
  claimMs: number;
  /** Called once for each, unless the process dies in between. */
  onAnnounced: (deactivation: Deactivation) => void;
};

export function deactivationsIn(
  postgres: Postgres,
  { claimMs, onAnnounced }: VehicleDeactivationsOptions,
): Deactivations {
  async function ask<Row extends object>(query: { name?: string; text: string }, values: unknown[]): Promise<Row[]> {
    return whenAvailable(postgres, async () => (await postgres.query<Row>({ ...query, values })).rows);
  }
  return {
    claimMs,
    candidates: (notedBefore, { shipper, vehicle } = FIRST) =>
      ask<SilentVehicle>(CANDIDATES, [notedBefore, shipper, vehicle]),
    async switchOff(silent, happenedAt) {
      if (silent.length === 0) return;
      const column = <Name extends keyof (typeof silent)[number]>(name: Name) => silent.map((each) => each[name]);
      const columns = [column('shipper'), column('vehicle'), column('notedAt'), column('seenAt')];
      await ask(SWITCH_OFF, [...columns, happenedAt]);
    },
    claim: () => ask<Deactivation>(CLAIM, [claimMs]),
    async settle(announced) {
      (await ask<Deactivation>(DELETE, [announced.map(({ guid }) => guid)])).forEach(onAnnounced);
    },
    publicationOf: announcementOf,
    async forget(seenBefore) {
      await ask(FORGET, [seenBefore]);
    },
  };
}

function announcementOf({ guid, shipper, vehicles, happenedAt }: Deactivation): Publication {
  const occurredAt = readTimestamp(new Date(happenedAt).toISOString());
  if (occurredAt === null) throw new Error('JavaScript wrote a timestamp that is none');
  const payload = { vehicle_guids: vehicles, gps_active: false };
  return publishAnnouncement({ cause: guid, action: 'vehicle.gps_deactivated', occurredAt, shipper, payload });
}
