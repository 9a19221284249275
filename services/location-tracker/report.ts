import { findPublished } from '@waybell/catalog/actions';
import { locationReported } from '@waybell/catalog/shipper/vehicle-location';
import type { Event } from '@waybell/events/event';
import { digitsOf, isArray, isObject, JsonNumber, type JsonObject, type JsonValue } from '@waybell/events/json';
import { readEvent, type EventLimits } from '@waybell/events/read-event';
import { momentOf, type Timestamp } from '@waybell/events/timestamp';
import { reject, type Parse } from '@waybell/line/messages';
import { refuseEvent } from '@waybell/rejected/reject-event';
import { isTraceparent } from '@waybell/runtime/traceparent';

/** The location of a driver with these vehicles (`vehicle.location_reported`). */
export type LocationReport = {
  guid: string;
  occurredAt: Timestamp;
  /** Account guid. */
  shipper: string;
  vehicles: { guid: string; isPickedUp: boolean }[];
  /** The number as upstream wrote it, digit for digit. */
  latitude: JsonNumber;
  longitude: JsonNumber;
  /** Milliseconds since the epoch. */
  recordedAt: number;
  /** Upstream's address; empty if it gave none. */
  address: string;
  traceparent?: string;
};

/** Reads a report; rejects one that breaks the contract with upstream. */
export function readReport(limits: EventLimits, onRead: (event: Event) => void): Parse<LocationReport> {
  return (message) => {
    const reading = readEvent(message, limits, findPublished);
    if (reading.kind === 'invalid') return refuseEvent(message, reading);
    const { event } = reading;
    const [shipper] = event.receivers;
    if (event.action !== locationReported || shipper === undefined) {
      return reject('not_a_report', `${event.action.name} is not tracked: publish it to its own routing key`);
    }
    const { guid, occurredAt, payload } = event;
    onRead(event);
    const recordedAt = momentOf(textIn(payload, 'recorded_at'));
    return {
      guid,
      occurredAt,
      shipper,
      vehicles: vehiclesOf(payload['vehicles']),
      latitude: numberIn(payload, 'latitude'),
      longitude: numberIn(payload, 'longitude'),
      recordedAt,
      address: textIn(payload, 'address'),
      ...(isTraceparent(message.traceparent) && { traceparent: message.traceparent }),
    };
  };
}

/** Lists each vehicle once; it is picked up if any of its entries says so. */
function vehiclesOf(vehicles: JsonValue | undefined): LocationReport['vehicles'] {
  const pickedUp = new Map<string, boolean>();
  for (const vehicle of isArray(vehicles) ? vehicles.filter(isObject) : []) {
    const guid = textIn(vehicle, 'guid').toLowerCase();
    pickedUp.set(guid, pickedUp.get(guid) === true || vehicle['picked_up'] === true);
  }
  return [...pickedUp].map(([guid, isPickedUp]) => ({ guid, isPickedUp }));
}

function textIn(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}

function numberIn(object: JsonObject, name: string): JsonNumber {
  const digits = digitsOf(object[name]);
  if (digits === undefined) throw new Error('the schema let it pass');
  return new JsonNumber(digits);
}
