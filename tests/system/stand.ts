import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import { freePort } from '@waybell/stack/free-port';
import { PATIENT } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';

/** The one system of a test file, and the receiver that all of its integrators have: there once tests run. */
export let stack: TestStack;
export let receiver: Receiver;
export let adminPort: string;

/** As many retries as the contract has, on both interfaces, without its pauses. */
export const CARRIER_DELAYS_MS = [100, 200, 400];
export const CARRIER_ATTEMPTS = CARRIER_DELAYS_MS.length + 1;
export const SHIPPER_ATTEMPTS = 6;
/** What the queue of events holds before upstream is refused. */
export const EVENTS_LIMIT_BYTES = 4 * 2 ** 20;
export const [olderKey, newerKey] = ['older', 'newer'].map((id) => `${id}:${randomBytes(32).toString('base64')}`);

beforeAll(async () => {
  adminPort = String(await freePort({ taken: new Set() }));
  const settings = {
    ...PATIENT,
    ADMIN_PORT: adminPort,
    CARRIER_RETRY_DELAYS: CARRIER_DELAYS_MS.map((delayMs) => `${delayMs}ms`).join(),
    // A receiver that lets its answer wait for something is not in its own way by that.
    DELIVER_SLOW: '60s',
    EVENTS_QUEUE_LIMIT: String(EVENTS_LIMIT_BYTES),
    LOG_SEND_INTERVAL: '50ms',
    SECRET_KEYS: `${olderKey},${newerKey}`,
    SHIPPER_RETRY_DELAYS: Array.from({ length: SHIPPER_ATTEMPTS - 1 }, () => '100ms').join(),
  };
  [stack, receiver] = await Promise.all([TestStack.start(settings), Receiver.start()]);
});

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

/** Has a service run with these settings as well while the tests of a `describe` run. */
export function settingsOf(service: string, settings: () => Record<string, string>): void {
  let changed: AsyncDisposable | undefined;
  beforeAll(async () => {
    changed = await stack.withSettings(service, settings());
  });
  afterAll(async () => changed?.[Symbol.asyncDispose]());
}
