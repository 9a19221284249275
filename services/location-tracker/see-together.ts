import { inBatches } from '@waybell/runtime/in-batches';
import type { Activities, ActivityChange } from './activities.ts';
import type { Remembered, RememberedVehicles } from './remembered-vehicles.ts';
import type { LocationReport } from './report.ts';
import { see, type Activity, type TrackingRules, type Seen, type Sighting, type Vehicle } from './vehicle.ts';
import { writeKey, type VehicleKey } from './vehicle-key.ts';

/** Guids of the vehicles that a report switched on, others of its shipper in the same batch included, and of those that it moved. */
export type Changes = { activated: string[]; moved: string[] };

export type SeeReport = (report: LocationReport) => Promise<Changes>;

export type SeeTogetherOptions = {
  activities: Activities;
  remembered: RememberedVehicles;
  rules: TrackingRules;
  now: () => number;
};

const LARGEST_BATCH = 500;

/**
 * Sees reports, many at once, no vehicle twice in a batch. Every write is compare-and-set on what was read, first in
 * Postgres, then in Redis; where another replica was faster, it is read and seen again. So replicas agree, and a crash in
 * between leaves a cause that is found when the report comes again.
 */
export function seeTogether(options: SeeTogetherOptions): SeeReport {
  return inBatches((reports) => seeBatch(reports, options), {
    largest: LARGEST_BATCH,
    keysOf: (report) => keysOf(report).map(writeKey),
  });
}

/** A vehicle of a report on its way through a batch. */
type VehicleSighting = {
  key: VehicleKey;
  sighting: Sighting;
  remembered: Remembered | undefined;
  /** The answer of Postgres; undefined until it was asked. */
  activity: Activity | null | undefined;
  seen: Seen;
};

const UNKNOWN: Vehicle = { activity: null, track: null };

async function seeBatch(reports: readonly LocationReport[], options: SeeTogetherOptions): Promise<Changes[]> {
  const looks = reports.map(looksOf);
  let open = looks.flat();
  while (open.length > 0) {
    await remember(open, options);
    await ask(open.filter(needsPostgres), options);
    const noted = await note(open, options);
    const kept = await keep(noted, options);
    open = open.filter((look) => !kept.has(look));
  }
  return tell(reports, looks, options);
}

async function remember(
  looks: readonly VehicleSighting[],
  { remembered, rules, now }: SeeTogetherOptions,
): Promise<void> {
  const found = await remembered.read(looks.map(({ key }) => key));
  const at = now();
  looks.forEach((look, place) => {
    look.remembered = found[place];
    look.seen = see(vehicleOf(look), look.sighting, { rules, now: at });
  });
}

/**
 * Redis is believed where it says that a vehicle is active, or where that does not matter: it may be behind, and a
 * vehicle that Postgres has as active must not be switched on again, nor the cause of that be overlooked.
 */
function needsPostgres({ activity, remembered, sighting }: VehicleSighting): boolean {
  if (activity !== undefined) return false;
  return remembered === undefined || (sighting.isPickedUp && remembered.vehicle.activity?.isActive !== true);
}

async function ask(looks: readonly VehicleSighting[], { activities, rules, now }: SeeTogetherOptions): Promise<void> {
  const found = await activities.read(looks.map(({ key }) => key));
  const at = now();
  for (const look of looks) {
    look.activity = found.get(writeKey(look.key)) ?? null;
    look.seen = see(vehicleOf(look), look.sighting, { rules, now: at });
  }
}

/** Writes to Postgres what changed there; those that another replica changed meanwhile are asked for and left out. */
async function note(looks: readonly VehicleSighting[], options: SeeTogetherOptions): Promise<VehicleSighting[]> {
  const changing = looks.flatMap((look) => {
    const [from, to] = [vehicleOf(look).activity, look.seen.vehicle.activity];
    return to === null || to === from ? [] : [{ look, change: { key: look.key, from, to } satisfies ActivityChange }];
  });
  const made = await options.activities.change(changing.map(({ change }) => change));
  const late = new Set<VehicleSighting>();
  for (const { look } of changing) {
    const activity = made.get(writeKey(look.key));
    if (activity === undefined) {
      late.add(look);
      continue;
    }
    look.activity = activity;
    look.seen = { ...look.seen, vehicle: { ...look.seen.vehicle, activity } };
  }
  await ask([...late], options);
  return looks.filter((look) => !late.has(look));
}

/** Writes to Redis what changed; resolves with those that are done. */
async function keep(
  looks: readonly VehicleSighting[],
  { remembered }: SeeTogetherOptions,
): Promise<Set<VehicleSighting>> {
  const changing = looks.filter(({ seen, remembered: from }) => seen.vehicle !== from?.vehicle && hasTrack(seen));
  const made = await remembered.change(
    changing.map(({ key, remembered: from, seen }) => ({ key, from, to: seen.vehicle })),
  );
  const late = new Set(changing.filter((_, place) => made[place] !== true));
  // The answer of Postgres may be older than what another replica has written.
  for (const look of late) look.activity = undefined;
  return new Set(looks.filter((look) => !late.has(look)));
}

/** The state in Redis, updated by the answer of Postgres. */
function vehicleOf({ remembered, activity }: VehicleSighting): Vehicle {
  const vehicle = remembered?.vehicle ?? UNKNOWN;
  return activity === undefined || activity === vehicle.activity ? vehicle : { ...vehicle, activity };
}

const hasTrack = ({ vehicle }: Seen) => vehicle.track !== null;

function looksOf(report: LocationReport): VehicleSighting[] {
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

/** What is to be told of each report. A report that has switched on any tells of all that were switched on with it. */
async function tell(
  reports: readonly LocationReport[],
  looks: readonly (readonly VehicleSighting[])[],
  { activities }: SeeTogetherOptions,
): Promise<Changes[]> {
  const causes = reports.filter((_, place) => looks[place]?.some(hasSwitchedOn));
  const activated = await activities.switchedOnBy(causes);
  return reports.map((report, place) => ({
    activated: activated[causes.indexOf(report)] ?? [],
    moved: (looks[place] ?? []).filter(({ seen }) => seen.hasMoved).map(({ key }) => key.vehicle),
  }));
}

const hasSwitchedOn = ({ seen, sighting }: VehicleSighting) =>
  seen.isActivated && seen.vehicle.activity?.activatedBy === sighting.report;

function keysOf({ shipper, vehicles }: LocationReport): VehicleKey[] {
  return vehicles.map(({ guid: vehicle }) => ({ shipper, vehicle }));
}
