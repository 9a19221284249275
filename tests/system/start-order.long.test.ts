import { describe, expect, test } from '@jest/globals';
import { SERVER_NAMES } from '@waybell/stack/choose-sources';
import { SupervisedProcess } from '@waybell/stack/supervised-process';
import { anEvent } from '../testing/event.ts';
import { PATIENT } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';

const ON_THE_LINE = ['event-router', 'deliverer', 'deactivator', 'delivery-log', 'location-tracker'];
/** There to end a test that will never pass: servers take their time to start. */
const LIMIT_MS = 300_000;

const stack = shared(() => TestStack.startAlone(PATIENT));
const receiver = shared(() => Receiver.start());

/** Stops all services and servers, and starts the services again, alone. */
async function startedAlone(): Promise<AsyncDisposable & { services: SupervisedProcess[]; ready: Promise<unknown> }> {
  const { services, servers } = stack.stack;
  await Promise.all(services.map((service) => service.stop()));
  await Promise.all(SERVER_NAMES.map((name) => servers.process(name).stop()));
  const options = { restart: 'never' as const, onEvent: () => undefined };
  const alone = services.map(({ spec }) => new SupervisedProcess({ ...spec, readyMs: LIMIT_MS }, options));
  return {
    services: alone,
    ready: Promise.all(alone.map((service) => service.start())),
    async [Symbol.asyncDispose]() {
      await Promise.all(alone.map((service) => service.stop()));
    },
  };
}

/** Resolves when exactly these services say that they wait for this server first. */
async function untilWaiting(services: readonly SupervisedProcess[], { names, server }: Waiting): Promise<void> {
  await until(`${names.join()} wait for ${server}`, async () => {
    const waiting = await Promise.all(services.map(async ({ spec }) => [spec.name, await spec.waitsFor()] as const));
    return waiting.every(([name, what]) => (names.includes(name) ? what?.startsWith(server) : what === undefined));
  });
}

type Waiting = { names: string[]; server: string };

describe('services that are started before their servers', () => {
  test(
    'wait, say for which, are not ready until it is there, and then deliver',
    async () => {
      const shipper = await stack.client('shipper');
      await shipper.subscribe('order.paid', receiver.url('/early'));
      await using alone = await startedAlone();
      const { servers } = stack.stack;

      await untilWaiting(alone.services, { names: ['subscription-api', ...ON_THE_LINE], server: 'postgres' });
      await servers.process('postgres').start();
      await untilWaiting(alone.services, { names: ON_THE_LINE, server: 'rabbitmq' });
      await servers.process('rabbitmq').start();
      await alone.ready;

      const event = anEvent({ interface: 'shipper', action: 'order.paid', parties: { shipper: shipper.account } });
      await stack.upstream.publishUntilConfirmed(event);
      const [request] = await receiver.untilReceived('/early', 1);
      expect(JSON.parse(request?.body ?? '')).toMatchObject({ action: 'order.paid' });
    },
    LIMIT_MS,
  );
});
