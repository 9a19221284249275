import { unpackedBytes } from '@waybell/events/decode-body';
import type { Event } from '@waybell/events/event';
import type { Step } from '@waybell/line/run-step';
import { locationsQueue } from '@waybell/line/topology';
import { reportRejectedEvent } from '@waybell/rejected/reject-event';
import type { Config } from './config.ts';
import { readReport, type LocationReport } from './report.ts';
import { SEEN_TOGETHER } from './see-together.ts';
import { trackLocation, type TrackOptions } from './track-location.ts';

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
