import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { causes } from './all-causes.ts';
import { insteadOf } from './cause.ts';
import { proveAlerts } from './prove-alerts.ts';
import { setScene, type Scene } from './scene.ts';

const settings = {
  SHIPPER_RETRY_DELAYS: '300ms,300ms,300ms,300ms,300ms',
  CARRIER_RETRY_DELAYS: '200ms,400ms,800ms',
  GPS_SWEEP_INTERVAL: '1s',
  KEEP_ALIVE: '100ms',
  ROUTE_PAUSE_DEPTH: '100',
  DELIVER_SLOTS: '64',
  DELIVER_HELD: '128',
};

let scene: Scene;
const ended = new AsyncDisposableStack();

beforeAll(async () => {
  scene = await setScene(ended, { settings, instead: insteadOf(causes) });
});

afterAll(() => ended.disposeAsync());

describe('operators are told, and their page helps, when', () => {
  test.each(causes)('$name', async (cause) => {
    expect(await proveAlerts(scene, cause)).toEqual([]);
  });
});
