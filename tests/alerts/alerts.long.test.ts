import { describe } from '@jest/globals';
import { causes } from './all-causes.ts';
import { proveEach } from './prove-alerts.ts';
import { setScene } from './scene.ts';

const settings = {
  SHIPPER_RETRY_DELAYS: '300ms,300ms,300ms,300ms,300ms',
  CARRIER_RETRY_DELAYS: '200ms,400ms,800ms',
  GPS_SWEEP_INTERVAL: '1s',
  KEEP_ALIVE: '100ms',
  ROUTE_PAUSE_DEPTH: '100',
  DELIVER_SLOTS: '64',
  DELIVER_HELD: '128',
};

describe('operators are told, and their page helps, when', () => {
  proveEach(causes, (ended, instead) => setScene(ended, { settings, instead }));
});
