import { systemClock, type Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { openConsumers, type Consumers } from './consumers.ts';
import { openPublisher, type BrokerPublisher } from './publisher.ts';
import { PolicyCheck } from './policy-check.ts';
import { QueueCheck } from './queue-check.ts';

/** RabbitMQ as the line sees it: one connection to publish, one to consume, so that neither can block the other. */
export type Broker = AsyncDisposable &
  Pick<BrokerPublisher, 'publish' | 'send' | 'state' | 'onState' | 'publishing' | 'stalled'> &
  Pick<Consumers, 'consume' | 'alone' | 'depth'> & {
    /** Empty when confirms come, every queue is there and those that it takes from are consumed. Each step says what it makes of a broker it cannot write to. */
    waitingFor(): string[];
  };

export type BrokerOptions = ServerAddress & {
  /** Shown in the broker's list of connections. */
  name: string;
  confirmTimeoutMs: number;
  unconfirmedLimit: number;
  /** Exchanges that must be there, and be its own to publish to, before it publishes anything. */
  exchanges: readonly string[];
  /** Queues that get what is published here: while one of them is missing, it waits for that. */
  publishesTo?: readonly string[];
  /** Of the management API, by which policies are looked at; empty or absent: they are not. */
  managementUrl?: string;
  log: Log;
  clock?: Clock;
  heartbeatSeconds?: number;
};

/** Each is copied once more on its way to the socket. */
const UNCONFIRMED_BYTES_LIMIT = 8 * 2 ** 20;

/** Connects in the background and stays connected. Closing it flushes: first what was consumed, then what was published. */
export async function connectBroker(options: BrokerOptions): Promise<Broker> {
  const common = { heartbeatSeconds: 10, clock: systemClock, ...options };
  const check = new QueueCheck({ ...common, queues: options.publishesTo ?? [] });
  const { managementUrl = '', url, tls } = options;
  const address = tls === undefined ? { url } : { url, tls };
  const policies = managementUrl === '' ? undefined : new PolicyCheck({ ...common, managementUrl, address });
  const publisher = openPublisher({
    ...common,
    unconfirmedBytesLimit: UNCONFIRMED_BYTES_LIMIT,
    onReturned: () => check.lookAgain(),
  });
  const consumers = await openConsumers({
    ...common,
    onConnected: (connection) => check.connected(connection),
    onDisconnected: () => check.disconnected(),
  });
  const queuesLacking = () => {
    const missing = check.waitingFor();
    const unconsumed = consumers.waitingFor().map((queue) => `queue ${queue}`);
    return [...unconsumed.filter((queue) => !missing.some((other) => other.startsWith(`${queue} `))), ...missing];
  };
  return {
    publish: publisher.publish,
    send: publisher.send,
    state: publisher.state,
    onState: publisher.onState,
    publishing: publisher.publishing,
    stalled: publisher.stalled,
    consume: consumers.consume,
    alone: consumers.alone,
    depth: consumers.depth,
    waitingFor: () => [
      ...(publisher.isConfirming() ? [] : ['confirms of rabbitmq']),
      ...(consumers.isConnected() ? queuesLacking() : ['rabbitmq']),
      ...(policies?.waitingFor() ?? []),
    ],
    async [Symbol.asyncDispose]() {
      check.close();
      await policies?.[Symbol.asyncDispose]();
      await consumers[Symbol.asyncDispose]();
      await publisher[Symbol.asyncDispose]();
    },
  };
}
