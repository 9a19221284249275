/** Degrees; north and east are positive. */
export type Position = { latitude: number; longitude: number };

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
