import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serversCauses } from './all-causes.ts';
import { insteadOf } from './cause.ts';
import { proveAlerts } from './prove-alerts.ts';
import { setServersScene, type ServersScene } from './servers-scene.ts';

let scene: ServersScene;
const ended = new AsyncDisposableStack();

beforeAll(async () => {
  scene = await setServersScene(ended, insteadOf(serversCauses));
});

afterAll(() => ended.disposeAsync());

describe('operators of several servers of a kind are told, and their page helps, when', () => {
  test.each(serversCauses)('$name', async (cause) => {
    expect(await proveAlerts(scene, cause)).toEqual([]);
  });
});
