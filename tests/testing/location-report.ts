import { anEvent, type PublishedEvent } from './event.ts';

export type ReportedLocation = {
  shipper: string;
  /** Guids, and whether each is picked up. */
  vehicles: Record<string, boolean>;
  latitude: number;
  longitude: number;
  /** Milliseconds since the epoch. */
  recordedAt: number;
  address?: string;
};

/** A report of where vehicles are, as upstream would publish it. */
export function aLocationReport(what: ReportedLocation): PublishedEvent {
  const { shipper, vehicles, latitude, longitude, recordedAt, address } = what;
  const at = new Date(recordedAt).toISOString();
  return anEvent({
    interface: 'shipper',
    action: 'vehicle.location_reported',
    parties: { shipper },
    occurred_at: at,
    payload: {
      vehicles: Object.entries(vehicles).map(([guid, isPickedUp]) => ({ guid, picked_up: isPickedUp })),
      latitude,
      longitude,
      recorded_at: at,
      ...(address !== undefined && { address }),
    },
  });
}
