/**
 * The state of a vehicle, and how a report or its silence changes it. Pure: the time is an argument.
 *
 *   report, picked up ──▶ active ──── older than the silence limit, by a sweep ────▶ inactive ──▶ …
 *
 * A change remembers the guid of the report that caused it. That report, processed again after a crash, has the same changes
 * announced again, and changes nothing (docs/decisions/0007-positions.md).
 */

/** A vehicle of a shipper: the same vehicle, reported for two shippers, is tracked for each. Guids in lower case. */
export type VehicleKey = { shipper: string; vehicle: string };

/** Degrees; north and east are positive. */
export type Position = { latitude: number; longitude: number };

/** Whether GPS is on. Stored in Postgres; times are milliseconds since the epoch. */
export type Activity = {
  isActive: boolean;
  /** When it was last seen, coarsely: up to `noteEveryMs` before the exact time. */
  notedAt: number;
  /** Guid of the report that last switched it on. */
  activatedBy: string;
};

/** Its location. Stored in Redis, which may lose it. */
type Track = {
  /** When it was last seen, exactly: as recorded, but never later than received. */
  seenAt: number;
  /** The last position announced to the client, and the guid of its report. */
  announced: (Position & { report: string }) | null;
};

/** Null: none, or none known any more. */
export type Vehicle = { activity: Activity | null; track: Track | null };

export type Sighting = Position & {
  /** Guid of the report. */
  report: string;
  recordedAt: number;
  isPickedUp: boolean;
};

export type TrackingRules = {
  /** Metres from the last announced position at which the next one is announced. */
  distanceM: number;
  /** Without a location for longer than this, GPS is off. */
  silenceMs: number;
};

/** The vehicle after a report, and the announcements to its client: GPS on, a new position. */
export type Seen = { vehicle: Vehicle; isActivated: boolean; hasMoved: boolean };

const NOTES_PER_SILENCE = 12;

/** Returns how coarse `notedAt` is: it is written at most this often, not with every report. */
function noteEveryMs({ silenceMs }: TrackingRules): number {
  return Math.ceil(silenceMs / NOTES_PER_SILENCE);
}

/** Applies a report to the state of a vehicle. */
export function see(vehicle: Vehicle, sighting: Sighting, { rules, now }: { rules: TrackingRules; now: number }): Seen {
  const { activity, track } = vehicle;
  const seenAt = Math.min(sighting.recordedAt, now);
  const wasActivated = activity?.activatedBy === sighting.report;
  const hadMoved = track?.announced?.report === sighting.report;
  if (isSilent(seenAt, { rules, now }) || isOld(vehicle, seenAt, rules)) {
    return { vehicle, isActivated: wasActivated, hasMoved: hadMoved };
  }
  const isFar =
    track === null || track.announced === null || greatCircleM(track.announced, sighting) >= rules.distanceM;
  const hasMoved = sighting.isPickedUp && isFar;
  const { report, latitude, longitude } = sighting;
  const announced = hasMoved ? { report, latitude, longitude } : (track?.announced ?? null);
  const next = noted(vehicle, { sighting, seenAt, rules, now });
  const isActivated = next?.isActive === true && activity?.isActive !== true;
  return {
    vehicle: { activity: next, track: { seenAt, announced } },
    isActivated: isActivated || wasActivated,
    // Received again, a report from the future looks newer than itself.
    hasMoved: hasMoved || hadMoved,
  };
}

/** Whether a vehicle that was last seen then is silent now (strictly longer). */
export function isSilent(seenAt: number, { rules, now }: { rules: TrackingRules; now: number }): boolean {
  return now - seenAt > rules.silenceMs;
}

/**
 * Returns the latest time at which an active vehicle may have been last seen. If Redis has forgotten it, assumes the latest
 * possible, so that no vehicle is called silent too early.
 */
export function seenAtLatest(notedAt: number, exactly: number | null, rules: TrackingRules): number {
  return exactly === null ? notedAt + noteEveryMs(rules) : Math.max(notedAt, exactly);
}

/** True if older than the known time, or, if Redis has forgotten that, older than a time certainly known. */
function isOld({ activity, track }: Vehicle, seenAt: number, rules: TrackingRules): boolean {
  if (track !== null) return seenAt <= track.seenAt;
  return activity !== null && seenAt < activity.notedAt - noteEveryMs(rules);
}

type Noting = { sighting: Sighting; seenAt: number; rules: TrackingRules; now: number };

function noted({ activity, track }: Vehicle, noting: Noting): Activity | null {
  const { sighting, seenAt, rules, now } = noting;
  if (activity?.isActive === true) {
    if (track !== null && !isDue(activity, noting)) return activity;
    const latest = track === null ? Math.min(now, seenAtLatest(activity.notedAt, null, rules)) : activity.notedAt;
    return { ...activity, notedAt: Math.max(seenAt, latest) };
  }
  if (!sighting.isPickedUp) return activity;
  return { isActive: true, notedAt: Math.max(seenAt, activity?.notedAt ?? 0), activatedBy: sighting.report };
}

/** Also due if a sweep may have found the vehicle silent: noting it again shows that. */
function isDue({ notedAt }: Activity, { seenAt, rules, now }: Noting): boolean {
  const everyMs = noteEveryMs(rules);
  return seenAt >= notedAt + everyMs || now >= notedAt + rules.silenceMs - everyMs;
}

/** Mean radius of the Earth (IUGG). */
const EARTH_RADIUS_M = 6_371_008.8;

const radians = (degrees: number) => (degrees * Math.PI) / 180;
const haversine = (angle: number) => Math.sin(angle / 2) ** 2;

/** Returns metres between two positions along the surface of a sphere; correct across the antimeridian and at the poles too. */
export function greatCircleM(from: Position, to: Position): number {
  const [fromLatitude, toLatitude] = [radians(from.latitude), radians(to.latitude)];
  const chord =
    haversine(toLatitude - fromLatitude) +
    Math.cos(fromLatitude) * Math.cos(toLatitude) * haversine(radians(to.longitude - from.longitude));
  // Rounding may raise it above 1 for antipodes.
  return 2 * EARTH_RADIUS_M * Math.asin(Math.sqrt(Math.min(1, chord)));
}

export function writeKey({ shipper, vehicle }: VehicleKey): string {
  return `${shipper}:${vehicle}`;
}
