import { inTransaction, whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import { type Activity, writeKey, type VehicleKey } from './vehicle.ts';

/** Replaces the activity that was read; null: there was none. */
export type ActivityChange = { key: VehicleKey; from: Activity | null; to: Activity };

/** Guids of a report and of its shipper. */
export type Cause = { guid: string; shipper: string };

/** The active vehicles, in Postgres. Throws `Unavailable` while that is away. */
export type Activities = {
  /** Returns activities by `writeKey`, without unknown vehicles. */
  read(keys: readonly VehicleKey[]): Promise<Map<string, Activity>>;
  /**
   * Makes the changes whose `from` is still current. Resolves with the current activities, by `writeKey`. Attributes all vehicles
   * of a shipper that it switches on to the first report among them.
   */
  change(changes: readonly ActivityChange[]): Promise<Map<string, Activity>>;
  /** Returns the guids of the vehicles that each report has switched on and that are still on, in order. */
  switchedOnBy(reports: readonly Cause[]): Promise<string[][]>;
};

type ActivityRow = { shipper: string; vehicle: string; is_active: boolean; noted_at: number; activated_by: string };

const READ = {
  name: 'read-activities',
  text: `select shipper_guid as shipper, vehicle_guid as vehicle, is_active, activated_by,
           round(extract(epoch from last_seen_at) * 1000)::float8 as noted_at
         from unnest($1::uuid[], $2::uuid[]) wanted (shipper_guid, vehicle_guid)
         join waybell.tracked_vehicles using (shipper_guid, vehicle_guid)`,
};

// In the order of the keys: replicas that change the same vehicles wait for each other instead of deadlocking.
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

const JOIN = {
  name: 'join-activities',
  text: `
    update waybell.tracked_vehicles t set activated_by = j.activated_by
    from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as j (shipper_guid, vehicle_guid, activated_by)
    where (t.shipper_guid, t.vehicle_guid) = (j.shipper_guid, j.vehicle_guid)`,
};

const SWITCHED_ON = {
  name: 'switched-on',
  text: `select array(select vehicle_guid::text from waybell.tracked_vehicles t
           where (t.activated_by, t.shipper_guid) = (w.activated_by, w.shipper_guid) and is_active order by vehicle_guid) as vehicles
         from unnest($1::uuid[], $2::uuid[]) with ordinality as w (activated_by, shipper_guid, place) order by place`,
};

export function activitiesIn(postgres: Postgres): Activities {
  return {
    async read(keys) {
      if (keys.length === 0) return new Map();
      const { rows } = await whenAvailable(postgres, () =>
        postgres.query<ActivityRow>({ ...READ, values: columnsOf(keys) }),
      );
      return new Map(rows.map((row) => [writeKey(row), activityOf(row)]));
    },
    async change(changes) {
      if (changes.length === 0) return new Map();
      const values = [
        ...columnsOf(changes.map(({ key }) => key)),
        changes.map(({ from }) => from?.isActive ?? null),
        changes.map(({ from }) => from?.notedAt ?? null),
        changes.map(({ to }) => to.notedAt),
        changes.map(({ to }) => to.activatedBy),
      ];
      return whenAvailable(postgres, () =>
        inTransaction(postgres, async (client) => {
          const { rows } = await client.query<VehicleKey>({ ...CHANGE, values });
          const isMade = new Set(rows.map(writeKey));
          const made = changes.filter(({ key }) => isMade.has(writeKey(key)));
          const joined = joining(made);
          if (joined.length > 0) {
            const causes = joined.map(({ to }) => to.activatedBy);
            await client.query({ ...JOIN, values: [...columnsOf(joined.map(({ key }) => key)), causes] });
          }
          return new Map([...made, ...joined].map(({ key, to }) => [writeKey(key), to]));
        }),
      );
    },
    async switchedOnBy(reports) {
      if (reports.length === 0) return [];
      const values = [reports.map(({ guid }) => guid), reports.map(({ shipper }) => shipper)];
      const ask = () => postgres.query<{ vehicles: string[] }>({ ...SWITCHED_ON, values });
      return (await whenAvailable(postgres, ask)).rows.map(({ vehicles }) => vehicles);
    },
  };
}

const columnsOf = (keys: readonly VehicleKey[]): [shippers: string[], vehicles: string[]] => [
  keys.map(({ shipper }) => shipper),
  keys.map(({ vehicle }) => vehicle),
];

/** Returns the changes that join an earlier one of the same shipper. */
function joining(made: readonly ActivityChange[]): ActivityChange[] {
  const firsts = new Map<string, string>();
  return made.flatMap(({ key, from, to }) => {
    if (from?.isActive === true) return [];
    const first = firsts.get(key.shipper) ?? to.activatedBy;
    firsts.set(key.shipper, first);
    return first === to.activatedBy ? [] : [{ key, from, to: { ...to, activatedBy: first } }];
  });
}

function activityOf({ is_active: isActive, noted_at: notedAt, activated_by: activatedBy }: ActivityRow): Activity {
  return { isActive, notedAt, activatedBy };
}
