import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import type { Activity } from './vehicle.ts';
import { writeKey, type VehicleKey } from './vehicle-key.ts';

/** An activity to be put in the place of one that was read; null: there was none. */
export type ActivityChange = { key: VehicleKey; from: Activity | null; to: Activity };

/** Which vehicles are active, in Postgres. Throws `Unavailable` while that is away. */
export type Activities = {
  /** By `writeKey`; those that are not known are left out. */
  read(keys: readonly VehicleKey[]): Promise<Map<string, Activity>>;
  /** Makes the changes whose `from` is still what is there. Resolves with the keys, by `writeKey`, of those it made. */
  change(changes: readonly ActivityChange[]): Promise<Set<string>>;
};

type Row = { shipper: string; vehicle: string; is_active: boolean; noted_at: number; activated_by: string };

const READ = {
  name: 'read-activities',
  text: `select shipper_guid as shipper, vehicle_guid as vehicle, is_active, activated_by,
           round(extract(epoch from last_seen_at) * 1000)::float8 as noted_at
         from unnest($1::uuid[], $2::uuid[]) wanted (shipper_guid, vehicle_guid)
         join waybell.tracked_vehicles using (shipper_guid, vehicle_guid)`,
};

// In the order of the keys, so that replicas that change the same vehicles wait for each other instead of deadlocking.
const CHANGE = {
  name: 'change-activities',
  text: `
    with wanted as (
      select shipper_guid, vehicle_guid, was_active, to_timestamp(was_ms / 1000) as was_seen_at,
        to_timestamp(ms / 1000) as seen_at, activated_by
      from unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::float8[], $5::float8[], $6::uuid[])
        as w (shipper_guid, vehicle_guid, was_active, was_ms, ms, activated_by)
    ), inserted as (
      insert into waybell.tracked_vehicles (shipper_guid, vehicle_guid, is_active, last_seen_at, activated_by)
      select shipper_guid, vehicle_guid, true, seen_at, activated_by from wanted where was_active is null
      order by shipper_guid, vehicle_guid
      on conflict do nothing returning shipper_guid, vehicle_guid
    ), unchanged as (
      select shipper_guid, vehicle_guid, w.seen_at, w.activated_by
      from waybell.tracked_vehicles t join wanted w using (shipper_guid, vehicle_guid)
      where t.is_active = w.was_active and t.last_seen_at = w.was_seen_at
      order by shipper_guid, vehicle_guid for no key update of t
    ), updated as (
      update waybell.tracked_vehicles t set is_active = true, last_seen_at = u.seen_at, activated_by = u.activated_by
      from unchanged u where (t.shipper_guid, t.vehicle_guid) = (u.shipper_guid, u.vehicle_guid)
      returning t.shipper_guid, t.vehicle_guid
    )
    select shipper_guid as shipper, vehicle_guid as vehicle from inserted union all select * from updated`,
};

export function activitiesIn(postgres: Postgres): Activities {
  return {
    async read(keys) {
      if (keys.length === 0) return new Map();
      const values = [keys.map(({ shipper }) => shipper), keys.map(({ vehicle }) => vehicle)];
      const { rows } = await whenAvailable(postgres, () => postgres.query<Row>({ ...READ, values }));
      return new Map(rows.map((row) => [writeKey(row), activityOf(row)]));
    },
    async change(changes) {
      if (changes.length === 0) return new Set();
      const values = [
        changes.map(({ key }) => key.shipper),
        changes.map(({ key }) => key.vehicle),
        changes.map(({ from }) => from?.isActive ?? null),
        changes.map(({ from }) => from?.notedAt ?? null),
        changes.map(({ to }) => to.notedAt),
        changes.map(({ to }) => to.activatedBy),
      ];
      const { rows } = await whenAvailable(postgres, () => postgres.query<VehicleKey>({ ...CHANGE, values }));
      return new Set(rows.map(writeKey));
    },
  };
}

function activityOf({ is_active: isActive, noted_at: notedAt, activated_by: activatedBy }: Row): Activity {
  return { isActive, notedAt, activatedBy };
}
