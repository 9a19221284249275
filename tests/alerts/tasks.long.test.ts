import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { tasks } from './all-causes.ts';
import { insteadOf } from './cause.ts';
import { proveAlerts } from './prove-alerts.ts';
import { setScene, type Scene } from './scene.ts';
import { OLD_KEY } from './tasks.ts';

const settings = {
  SECRET_KEYS: OLD_KEY,
  SHIPPER_RETRY_DELAYS: '1s,1s,1s,1s,1s',
  CARRIER_RETRY_DELAYS: '1s,2s,4s',
};

let scene: Scene;
const ended = new AsyncDisposableStack();

beforeAll(async () => {
  scene = await setScene(ended, { settings, instead: insteadOf(tasks) });
});

afterAll(() => ended.disposeAsync());

describe('what operators do on purpose goes as its page says, when', () => {
  test.each(tasks)('$name', async (task) => {
    expect(await proveAlerts(scene, task)).toEqual([]);
  });
});
