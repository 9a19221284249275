import { describe } from '@jest/globals';
import { tasks } from './all-causes.ts';
import { proveEach } from './prove-alerts.ts';
import { setScene } from './scene.ts';
import { OLD_KEY } from './tasks.ts';

const settings = {
  SECRET_KEYS: OLD_KEY,
  SHIPPER_RETRY_DELAYS: '1s,1s,1s,1s,1s',
  CARRIER_RETRY_DELAYS: '1s,2s,4s',
};

describe('what operators do on purpose goes as its page says, when', () => {
  proveEach(tasks, (ended, instead) => setScene(ended, { settings, instead }));
});
