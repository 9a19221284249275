import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { reject, type Message } from '@waybell/line/messages';
import { readConfig } from './config.ts';
import { readReport, type LocationReport } from './report.ts';
import { trackStep } from './track-location.ts';

const GUID = 'f0f0f0f0-f0f0-4f0f-8f0f-f0f0f0f0f0f0';
const SHIPPER = 'e1e1e1e1-e1e1-4e1e-8e1e-e1e1e1e1e1e1';
const VEHICLE = 'c2f1f1d4-2a0b-4d0e-8f0a-6b8e5f2f9c44';
const read = readReport({ maxBytes: 1_048_576, maxDepth: 32 }, () => undefined);

type Published = { payload?: object; action?: string };

function published({ payload = {}, action = 'vehicle.location_reported' }: Published): Message {
  const event = {
    guid: GUID,
    interface: 'shipper',
    action,
    occurred_at: '2026-11-20T09:30:00.123456Z',
    parties: { shipper: SHIPPER },
    payload: {
      vehicles: [{ guid: VEHICLE, picked_up: true }],
      latitude: 52.5,
      longitude: 13.4,
      recorded_at: '2026-11-20T10:29:58.500+01:00',
      ...payload,
    },
  };
  return {
    queue: 'waybell.events.locations',
    exchange: 'waybell.events',
    routingKey: `shipper.${action}`,
    body: Buffer.from(JSON.stringify(event)),
    deliveryCount: 0,
    failures: 0,
  };
}

const readPublished = (what: Published) => read(published(what));

describe('readReport', () => {
  test('reads who has seen which vehicles, and when', () => {
    expect(readPublished({})).toMatchObject({
      guid: GUID,
      shipper: SHIPPER,
      vehicles: [{ guid: VEHICLE, isPickedUp: true }],
      latitude: { text: '52.5' },
      longitude: { text: '13.4' },
      recordedAt: Date.parse('2026-11-20T09:29:58.500Z'),
      address: '',
    });
  });

  test.each<[what: string, given: object, address: string]>([
    ['as it was given', { address: ' Yard 1\n' }, ' Yard 1\n'],
    ['empty where it is null', { address: null }, ''],
  ])('leaves the address %s', (_what, payload, address) => {
    expect(readPublished({ payload })).toMatchObject({ address });
  });

  test.each([[[true, false]], [[false, true]]])(
    'takes a vehicle once, picked up where it is said so anywhere: %p',
    (said) => {
      const vehicles = said.map((isPickedUp, place) => ({
        guid: place === 0 ? VEHICLE : VEHICLE.toUpperCase(),
        picked_up: isPickedUp,
      }));
      expect(readPublished({ payload: { vehicles } })).toMatchObject({
        vehicles: [{ guid: VEHICLE, isPickedUp: true }],
      });
    },
  );

  test('rejects one that only a later version knows as that', () => {
    expect(readPublished({ action: 'vehicle.fuel_reported' })).toMatchObject({ reason: 'newer_format' });
  });

  test('rejects an event that is none', () => {
    const payload = { vehicle_guids: [VEHICLE], gps_active: true };
    expect(readPublished({ action: 'vehicle.gps_activated', payload })).toMatchObject({
      kind: 'reject',
      reason: 'not_a_report',
    });
  });
});

describe('the step that reads reports', () => {
  const step = trackStep({
    config: readConfig({ AMQP_URL: 'amqp://a', DATABASE_URL: 'postgres://a', REDIS_URL: 'redis://a' }),
    seeReports: async () => [],
    findAddress: async () => '',
    onChanges: () => undefined,
    onRead: () => undefined,
    now: () => 7,
  });

  test('sees no vehicle of a shipper twice at once', () => {
    const vehicles = [
      { guid: VEHICLE, picked_up: true },
      { guid: GUID, picked_up: false },
    ];
    const report = step.parse(published({ payload: { vehicles } })) as LocationReport;
    expect(step.gathering?.keysOf?.(report)).toEqual([`${SHIPPER}:${VEHICLE}`, `${SHIPPER}:${GUID}`]);
  });

  test('has one that is rejected on record, and upstream told', () => {
    expect(step.reportRejection?.(published({}), reject('not_a_report', 'x'))).toMatchObject([
      { outcome: { kind: 'rejected', event: GUID, at: 7, reason: 'not_a_report' } },
      { kind: 'publish', exchange: 'waybell.notices' },
    ]);
  });

  test('weighs it by what it unpacks to', () => {
    const { body } = published({});
    const packed = { ...published({}), body: gzipSync(body), contentEncoding: 'gzip' };
    expect(step.inHandLimit.weigh?.(packed)).toBe(body.length);
  });
});
