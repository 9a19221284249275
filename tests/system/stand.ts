import { withConstants } from '@waybell/runtime/gone-settings';
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { freePort } from '@waybell/stack/ports';
import { shared } from '@waybell/runtime/testing/shared';
import { PATIENT } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';

export let adminPort: string;

/** The number of retries in the contract, on both interfaces, with short pauses. */
export const CARRIER_DELAYS_MS = [100, 200, 400];
export const CARRIER_ATTEMPTS = CARRIER_DELAYS_MS.length + 1;
export const SHIPPER_ATTEMPTS = 6;
/** A deliverer of few slots, with which an endpoint hangs soon. */
export const FEW_SLOTS = 20;
export const IMPATIENT = { DELIVER_SLOTS: String(FEW_SLOTS), DELIVER_SLOW: '1s' };
/** Limit of the queue of events, beyond which upstream is refused. */
export const EVENTS_LIMIT_BYTES = 4 * 2 ** 20;
export const [olderKey, newerKey] = ['older', 'newer'].map((id) => `${id}:${randomBytes(32).toString('base64')}`);

beforeAll(async () => void (adminPort = String(await freePort({ taken: new Set() }))));

/** The one system of a test file, and the receiver that all of its integrators have. */
export const stack = shared(() =>
  TestStack.start({
    ...PATIENT,
    ADMIN_PORT: adminPort,
    CARRIER_RETRY_DELAYS: CARRIER_DELAYS_MS.map((delayMs) => `${delayMs}ms`).join(),
    // A receiver that lets its answer wait for something is not in its own way by that.
    DELIVER_SLOW: '60s',
    EVENTS_QUEUE_LIMIT: String(EVENTS_LIMIT_BYTES),
    LOG_SEND_INTERVAL: '50ms',
    SECRET_KEYS: `${olderKey},${newerKey}`,
    SHIPPER_RETRY_DELAYS: Array.from({ length: SHIPPER_ATTEMPTS - 1 }, () => '100ms').join(),
  }),
);
export const receiver = shared(() => Receiver.start());

type Change = { service: string; settings: () => Record<string, string> };

/** In the order in which they were asked for: a later one goes before an earlier one. */
const changes = new Set<Change>();
const ownSettings = new Map<string, NodeJS.ProcessEnv>();

/**
 * Has a service run with these settings as well while the tests of a `describe` run: from the first of them on, not in a
 * `beforeAll`. It begins again only where they differ from those of the test before, as that costs seconds.
 */
export function settingsOf(service: string, settings: Change['settings']): void {
  const change = { service, settings };
  beforeAll(() => void changes.add(change));
  afterAll(() => void changes.delete(change));
}

/** Has a service run with these settings as well from now until the end of the test. */
export async function runWith(service: string, settings: Record<string, string>): Promise<void> {
  const { spec } = stack.stack.service(service);
  await restartWith(service, { ...spec.env, ...withConstants(settings) });
}

beforeEach(async () => {
  await Promise.all(
    stack.stack.services.map(({ spec: { name, env } }) => {
      const wanted = [...changes]
        .filter(({ service }) => service === name)
        .map(({ settings }) => withConstants(settings()));
      return restartWith(name, Object.assign({}, ownSettings.get(name) ?? env, ...wanted));
    }),
  );
});

async function restartWith(name: string, env: NodeJS.ProcessEnv): Promise<void> {
  const service = stack.stack.service(name);
  if (!ownSettings.has(name)) ownSettings.set(name, service.spec.env);
  if (isDeepStrictEqual(service.spec.env, env)) return;
  service.spec.env = env;
  await service.restart();
}
