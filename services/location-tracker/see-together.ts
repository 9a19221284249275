import type { Activities, ActivityChange } from './activities.ts';
import type { Remembered, RememberedVehicles } from './remembered-vehicles.ts';
import type { LocationReport } from './report.ts';
import {
  see,
  type Activity,
  type TrackingRules,
  type Seen,
  type Sighting,
  type Vehicle,
  writeKey,
  type VehicleKey,
} from './vehicle.ts';

/**
 * Guids of the vehicles that a report switched on, including others of its shipper in the same batch, and of those that it moved.
 */
export type Changes = { activated: string[]; moved: string[] };

/** Applies reports in none of which a vehicle occurs that is in another. Resolves with their changes, in their order. */
export type SeeReports = (reports: readonly LocationReport[]) => Promise<readonly Changes[]>;

export type SeeTogetherOptions = {
  activities: Activities;
  remembered: RememberedVehicles;
  rules: TrackingRules;
  now: () => number;
};

/**
 * Every write is a compare-and-set on the values that were read, first in Postgres, then in Redis; if another replica was faster,
 * reads and applies again. So replicas agree, and after a crash in between the cause is stored and found when the report is
 * redelivered.
 */
export function seeTogether(options: SeeTogetherOptions): SeeReports {
  return (reports) => seeBatch(reports, options);
}

/** How reports are gathered: no vehicle occurs twice in a batch. */
export const SEEN_TOGETHER = { largest: 500, keysOf: (report: LocationReport) => keysOf(report).map(writeKey) };

/** A vehicle of a report in a batch. */
type VehicleSighting = {
  key: VehicleKey;
  sighting: Sighting;
  remembered: Remembered | undefined;
  /** The answer of Postgres; undefined before the query. */
  activity: Activity | null | undefined;
  seen: Seen;
};

const UNKNOWN: Vehicle = { activity: null, track: null };

async function seeBatch(reports: readonly LocationReport[], options: SeeTogetherOptions): Promise<Changes[]> {
  const sightings = reports.map(sightingsOf);
  let open = sightings.flat();
  while (open.length > 0) {
    await readRemembered(open, options);
    await readActivities(open.filter(needsPostgres), options);
    const noted = await writeActivities(open, options);
    const kept = await writeRemembered(noted, options);
    open = open.filter((each) => !kept.has(each));
  }
  return changesOf(reports, sightings, options);
}

async function readRemembered(
  sightings: readonly VehicleSighting[],
  { remembered, rules, now }: SeeTogetherOptions,
): Promise<void> {
  const found = await remembered.read(sightings.map(({ key }) => key));
  const at = now();
  sightings.forEach((each, place) => {
    each.remembered = found[place];
    each.seen = see(vehicleOf(each), each.sighting, { rules, now: at });
  });
}

/**
 * True unless Redis has the vehicle as active, or it does not matter. Redis may be behind, and a vehicle that is active in
 * Postgres must not be switched on again, nor the cause of its activation be overlooked.
 */
function needsPostgres({ activity, remembered, sighting }: VehicleSighting): boolean {
  if (activity !== undefined) return false;
  return remembered === undefined || (sighting.isPickedUp && remembered.vehicle.activity?.isActive !== true);
}

async function readActivities(
  sightings: readonly VehicleSighting[],
  { activities, rules, now }: SeeTogetherOptions,
): Promise<void> {
  const found = await activities.read(sightings.map(({ key }) => key));
  const at = now();
  for (const each of sightings) {
    each.activity = found.get(writeKey(each.key)) ?? null;
    each.seen = see(vehicleOf(each), each.sighting, { rules, now: at });
  }
}

/** Writes changes to Postgres. Reads again, and leaves out, vehicles that another replica changed meanwhile. */
async function writeActivities(
  sightings: readonly VehicleSighting[],
  options: SeeTogetherOptions,
): Promise<VehicleSighting[]> {
  const changing = sightings.flatMap((each) => {
    const [from, to] = [vehicleOf(each).activity, each.seen.vehicle.activity];
    return to === null || to === from ? [] : [{ each, change: { key: each.key, from, to } satisfies ActivityChange }];
  });
  const made = await options.activities.change(changing.map(({ change }) => change));
  const late = new Set<VehicleSighting>();
  for (const { each } of changing) {
    const activity = made.get(writeKey(each.key));
    if (activity === undefined) {
      late.add(each);
      continue;
    }
    each.activity = activity;
    each.seen = { ...each.seen, vehicle: { ...each.seen.vehicle, activity } };
  }
  await readActivities([...late], options);
  return sightings.filter((each) => !late.has(each));
}

/** Writes changes to Redis; resolves with those that are done. */
async function writeRemembered(
  sightings: readonly VehicleSighting[],
  { remembered }: SeeTogetherOptions,
): Promise<Set<VehicleSighting>> {
  const changing = sightings.filter(({ seen, remembered: from }) => seen.vehicle !== from?.vehicle && hasTrack(seen));
  const made = await remembered.change(
    changing.map(({ key, remembered: from, seen }) => ({ key, from, to: seen.vehicle })),
  );
  const late = new Set(changing.filter((_, place) => made[place] !== true));
  // The answer of Postgres may be older than another replica's write.
  for (const each of late) each.activity = undefined;
  return new Set(sightings.filter((each) => !late.has(each)));
}

/** Returns the state in Redis, updated with the answer of Postgres. */
function vehicleOf({ remembered, activity }: VehicleSighting): Vehicle {
  const vehicle = remembered?.vehicle ?? UNKNOWN;
  return activity === undefined || activity === vehicle.activity ? vehicle : { ...vehicle, activity };
}

const hasTrack = ({ vehicle }: Seen) => vehicle.track !== null;

function sightingsOf(report: LocationReport): VehicleSighting[] {
  const { guid, recordedAt, latitude, longitude } = report;
  const position = { latitude: Number(latitude.text), longitude: Number(longitude.text) };
  return report.vehicles.map(({ guid: vehicle, isPickedUp }) => ({
    key: { shipper: report.shipper, vehicle },
    sighting: { report: guid, recordedAt, isPickedUp, ...position },
    remembered: undefined,
    activity: undefined,
    seen: { vehicle: UNKNOWN, isActivated: false, hasMoved: false },
  }));
}

/** Returns what to announce for each report. A report that switched a vehicle on announces all that were switched on with it. */
async function changesOf(
  reports: readonly LocationReport[],
  sightings: readonly (readonly VehicleSighting[])[],
  { activities }: SeeTogetherOptions,
): Promise<Changes[]> {
  const causes = reports.filter((_, place) => sightings[place]?.some(hasSwitchedOn));
  const activated = await activities.switchedOnBy(causes);
  return reports.map((report, place) => ({
    activated: activated[causes.indexOf(report)] ?? [],
    moved: (sightings[place] ?? []).filter(({ seen }) => seen.hasMoved).map(({ key }) => key.vehicle),
  }));
}

const hasSwitchedOn = ({ seen, sighting }: VehicleSighting) =>
  seen.isActivated && seen.vehicle.activity?.activatedBy === sighting.report;

function keysOf({ shipper, vehicles }: LocationReport): VehicleKey[] {
  return vehicles.map(({ guid: vehicle }) => ({ shipper, vehicle }));
}
