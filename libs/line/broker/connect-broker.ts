import { type Clock, systemClock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { Login } from '@waybell/runtime/login';
import type { ServerAddress } from '@waybell/runtime/server-address';
import type { Broker } from '../broker.ts';
import { openConsumers } from './consumers.ts';
import { PolicyCheck } from './policies.ts';
import { openPublisher } from './publisher.ts';
import { QueueCheck } from './queue-check.ts';

export type BrokerOptions = ServerAddress & {
  /** Shown in the broker's list of connections. */
  name: string;
  confirmTimeoutMs: number;
  unconfirmedLimit: number;
  /** Exchanges that must exist, and that it must have the right to publish to, before it publishes anything. */
  exchanges: readonly string[];
  /** Queues that receive the messages published here: while one is missing, `waitingFor` names it. */
  publishesTo?: readonly string[];
  /** URL of the management API, for the policy check; empty or absent: no check. */
  managementUrl?: string;
  log: Log;
  clock?: Clock;
  heartbeatSeconds?: number;
};

/** Unconfirmed bytes over all destinations; the socket's buffer holds each once more. */
const UNCONFIRMED_BYTES_LIMIT = 8 * 2 ** 20;

/** Connects in the background and reconnects. Disposal flushes acknowledgements first, then publishes. */
export async function connectBroker(options: BrokerOptions): Promise<Broker> {
  const login = new Login('RabbitMQ', options);
  const common = { heartbeatSeconds: 10, clock: systemClock, ...options, login };
  const consumed = () => consumers.consumed();
  const check = new QueueCheck({ ...common, queues: options.publishesTo ?? [], consumed });
  const { managementUrl = '', url, tls } = options;
  const address = tls === undefined ? { url } : { url, tls };
  const policies = managementUrl === '' ? undefined : new PolicyCheck({ ...common, managementUrl, address });
  const publisher = openPublisher({
    ...common,
    unconfirmedBytesLimit: UNCONFIRMED_BYTES_LIMIT,
    onReturned: () => check.checkAgain(),
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
    depth: consumers.depth,
    waitingFor: () => [
      ...(publisher.isConfirming() ? [] : ['confirms of rabbitmq']),
      ...(consumers.isConnected() ? queuesLacking() : ['rabbitmq']),
      ...login.waitingFor(),
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
