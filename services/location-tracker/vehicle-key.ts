/** A vehicle of a shipper: the same vehicle, reported for two shippers, is tracked for each. Guids in lower case. */
export type VehicleKey = { shipper: string; vehicle: string };

export function writeKey({ shipper, vehicle }: VehicleKey): string {
  return `${shipper}:${vehicle}`;
}
