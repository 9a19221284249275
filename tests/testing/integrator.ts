import { randomUUID } from 'node:crypto';
import type { Behaviour, Received, Receiver } from './receiver.ts';
import type { Client, TestStack } from './test-stack.ts';
import { until } from '@waybell/runtime/testing/until';

/** How a subscription stands, as the table has it. */
export type Standing = {
  guid: string;
  is_active: boolean;
  deactivation_rule: string | null;
  deactivated_at: Date | null;
  last_success_at: Date | null;
};

/** One account that is subscribed to one action, and its endpoint. */
export type Integrator = {
  client: Client;
  path: string;
  /** Publishes an event for it. */
  hear(): Promise<unknown>;
  answer(behaviour: Behaviour): void;
  untilAsked(times: number): Promise<Received[]>;
  /** The standing of the subscription that is called at its first address. */
  standing(): Promise<Standing>;
  untilOff(): Promise<Standing & { deactivated_at: Date }>;
  /** Ends the subscription where the interface wants that first, and subscribes again, at another address. */
  subscribeAgain(): Promise<{ path: string }>;
};

export type IntegratorOptions = {
  stack: TestStack;
  receiver: Receiver;
  interfaceName: 'shipper' | 'carrier';
  /** The origin of the receiver's address, if not its own. */
  origin?: string;
};

export async function integrator(options: IntegratorOptions): Promise<Integrator> {
  const { stack, receiver, interfaceName, origin } = options;
  const urlOf = (path: string) => (origin === undefined ? receiver.url(path) : `${origin}${path}`);
  const action = interfaceName === 'shipper' ? 'order.paid' : 'order.created';
  const client = await stack.client(interfaceName);
  const path = `/${randomUUID()}`;
  receiver.answer(path, 200);
  await client.subscribe(action, urlOf(path));
  // The host may be stored otherwise than it was given.
  const guid = await stack.subscriptionAt(path);
  const standing = async (): Promise<Standing> => {
    const { rows } = await stack.postgres.query<Standing>(
      `select guid, is_active, deactivation_rule, deactivated_at, last_success_at
       from waybell.subscriptions where guid = $1`,
      [guid],
    );
    if (rows[0] === undefined) throw new Error(`no subscription ${guid}`);
    return rows[0];
  };
  return {
    client,
    path,
    hear: () => client.hear(action),
    answer: (behaviour) => receiver.answer(path, behaviour),
    untilAsked: (times) => receiver.untilReceived(path, times),
    standing,
    untilOff: () =>
      until(`subscription ${guid} is off`, async () => {
        const { deactivated_at: at, ...rest } = await standing();
        return at !== null && !rest.is_active && { ...rest, deactivated_at: at };
      }),
    async subscribeAgain() {
      const next = `/${randomUUID()}`;
      if (interfaceName === 'carrier') await client.unsubscribe(action);
      receiver.answer(next, 200);
      await client.subscribe(action, urlOf(next));
      return { path: next };
    },
  };
}
