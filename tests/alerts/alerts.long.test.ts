import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';
import { causes } from './all-causes.ts';
import { proveAlerts } from './prove-alerts.ts';
import { showMetrics, watch, type Scene } from './scene.ts';

/** As many receivers as it takes to tell our own way out from theirs. */
const HOSTS = Array.from({ length: 12 }, (_, number) => `127.0.0.${number + 10}`);
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
  const stack = ended.use(await TestStack.startAlone(settings));
  const receiver = ended.use(await Receiver.start(HOSTS));
  const { spec: node } = stack.stack.servers.process('rabbitmq');
  const instead = Object.assign({}, ...causes.map((cause) => cause.instead ?? {}));
  const prometheus = ended.use(await watch(stack, [await showMetrics(node)], instead));
  scene = { stack, receiver, prometheus, node, loads: new Set() };
});

afterAll(() => ended.disposeAsync());

describe('operators are told, and their page helps, when', () => {
  test.each(causes)('$name', async (cause) => {
    expect(await proveAlerts(scene, cause)).toEqual([]);
  });
});
