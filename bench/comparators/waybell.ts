import { eventsExchange } from '@waybell/line/topology';
import { deliveriesPerMessage, readFigures } from '@waybell/stack/service-process';
import type { Stack } from '@waybell/stack/stack';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import type { Contender, RunningContender } from './contender.ts';

/** The product, as shipped. */
export const waybell: Contender = { name: 'waybell', start: ({ stack }) => startServices(stack, stack.services) };

/** Starts those that do not run yet; stopping it stops them. */
export async function startServices(stack: Stack, services: readonly SupervisedProcess[]): Promise<RunningContender> {
  await Promise.all(services.filter(({ state }) => state === 'stopped').map((service) => service.start()));
  return {
    target: { url: stack.servers.url('rabbitmq'), exchange: eventsExchange },
    parts: Object.fromEntries(services.map((service) => [service.spec.name, [pidOf(service)]])),
    perMessage: async () =>
      deliveriesPerMessage(await readFigures(stack.service('event-router').spec.address)) ?? Number.NaN,
    stop: async () => {
      await Promise.all(services.map((service) => service.stop()));
    },
  };
}

function pidOf({ identity, spec }: SupervisedProcess): number {
  if (identity === undefined) throw new Error(`${spec.name} does not run`);
  return identity.pid;
}
