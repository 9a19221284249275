import { unpackedBytes } from '@waybell/events/read-event';
import type { Event } from '@waybell/events/event';
import type { JsonObject } from '@waybell/events/json';
import { startEach, type Handler, type Outgoing } from '@waybell/line/messages';
import type { Step } from '@waybell/line/run-step';
import { locationsQueue } from '@waybell/line/topology';
import { reportRejectedEvent } from '@waybell/rejected/reject-event';
import { publishAnnouncement, type Announcement } from './announcement.ts';
import type { Config } from './config.ts';
import type { FindAddress } from './find-address.ts';
import { type LocationReport, readReport } from './report.ts';
import { type Changes, type SeeReports, SEEN_TOGETHER } from './see-together.ts';

export type TrackOptions = {
  seeReports: SeeReports;
  findAddress: FindAddress;
  onChanges: (changes: Changes) => void;
  now: () => number;
};

type TrackStepOptions = TrackOptions & { config: Config; onRead: (event: Event) => void };

/** The tracker's step. Needs no `once`: a repeated report is recognised by the values that it changed. */
export function trackStep({ config, onRead, ...options }: TrackStepOptions): Step<LocationReport> {
  const { inHandLimit, eventLimits } = config;
  return {
    name: 'location-tracker',
    queues: [locationsQueue],
    inHandLimit: { ...inHandLimit, weigh: (message) => unpackedBytes(message, eventLimits.maxBytes) },
    parse: readReport(eventLimits, onRead),
    handle: trackLocation(options),
    gathering: SEEN_TOGETHER,
    reportRejection: reportRejectedEvent(eventLimits, options.now),
    traces: 'begin',
    describe: ({ guid, vehicles }) => ({ event: guid, vehicles: vehicles.length }),
  };
}

/** Limit of vehicles in one notification. */
const MOST_VEHICLES = 1_000;

/**
 * Turns a report into an event for the vehicles that it switched on, one for those that it moved far enough, or a record that it
 * changed nothing (shipper-webhooks, Vehicle location actions).
 */
export function trackLocation({ seeReports, findAddress, onChanges, now }: TrackOptions): Handler<LocationReport> {
  async function announce(report: LocationReport, changes: Changes): Promise<Outgoing[]> {
    onChanges(changes);
    const announcements: Announcement[] = [];
    for (let from = 0; from < changes.activated.length; from += MOST_VEHICLES) {
      announcements.push(activation(report, changes.activated.slice(from, from + MOST_VEHICLES)));
    }
    if (changes.moved.length > 0) announcements.push(move(report, changes.moved, await findAddress(report)));
    return announcements.length === 0 ? [absorbed(report, now())] : announcements.map(publishAnnouncement);
  }

  return async (reports) => {
    const changes = await seeReports(reports);
    const seen = reports.flatMap((report, place) => ({ report, changes: changes[place] ?? NONE }));
    return startEach(seen, (each) => announce(each.report, each.changes));
  };
}

const NONE: Changes = { activated: [], moved: [] };

function activation(report: LocationReport, vehicles: string[]): Announcement {
  return announcement(report, 'vehicle.gps_activated', { vehicle_guids: vehicles, gps_active: true });
}

function move(report: LocationReport, vehicles: string[], address: string): Announcement {
  return announcement(report, 'vehicle.driver_location_updated', {
    vehicle_guids: vehicles,
    latitude: report.latitude,
    longitude: report.longitude,
    address,
  });
}

function announcement(
  { guid: cause, occurredAt, shipper, traceparent }: LocationReport,
  action: Announcement['action'],
  payload: JsonObject,
): Announcement {
  return { cause, action, occurredAt, shipper, payload, ...(traceparent !== undefined && { traceparent }) };
}

function absorbed({ guid, shipper, vehicles }: LocationReport, at: number): Outgoing {
  return {
    kind: 'outcome',
    outcome: {
      kind: 'routed',
      event: guid,
      interface: 'shipper',
      action: 'vehicle.location_reported',
      at,
      keys: vehicles.map((vehicle) => ({ kind: 'vehicle_guid', key: vehicle.guid })),
      receivers: [shipper],
      deliveries: [],
      suppressed: [{ reason: 'position_absorbed' }],
    },
  };
}
