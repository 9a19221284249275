import { systemClock, type Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { openConsumers, type Consumers } from './consumers.ts';
import { openPublisher, type Publisher } from './publisher.ts';
import {
  deliveriesExchange,
  endsExchange,
  eventsExchange,
  outcomesExchange,
  rejectedExchange,
  retryExchange,
  suspectsExchange,
  waitingName,
} from '../topology.ts';

/** RabbitMQ as the line sees it: one connection to publish, one to consume, so that neither can block the other. */
export type Broker = AsyncDisposable &
  Pick<Publisher, 'publish' | 'send' | 'state' | 'onState' | 'untilWritable' | 'publishing' | 'stalled'> &
  Pick<Consumers, 'consume' | 'alone' | 'depth'> & {
    /** Empty when confirms come and every queue is consumed. Each step says what it makes of a broker it cannot write to. */
    waitingFor(): string[];
  };

export type BrokerOptions = ServerAddress & {
  /** Shown in the broker's list of connections. */
  name: string;
  confirmTimeoutMs: number;
  unconfirmedLimit: number;
  log: Log;
  clock?: Clock;
  heartbeatSeconds?: number;
};

/** Each is copied once more on its way to the socket. */
const UNCONFIRMED_BYTES_LIMIT = 8 * 2 ** 20;
const EXCHANGES = [
  eventsExchange,
  deliveriesExchange,
  retryExchange,
  waitingName('full'),
  waitingName('hung'),
  outcomesExchange,
  endsExchange,
  suspectsExchange,
  rejectedExchange,
];

/** Connects in the background and stays connected. Closing it flushes: first what was consumed, then what was published. */
export async function connectBroker(options: BrokerOptions): Promise<Broker> {
  const common = { heartbeatSeconds: 10, clock: systemClock, ...options };
  const publisher = await openPublisher({
    ...common,
    exchanges: EXCHANGES,
    unconfirmedBytesLimit: UNCONFIRMED_BYTES_LIMIT,
  });
  const consumers = await openConsumers(common);
  return {
    publish: publisher.publish,
    send: publisher.send,
    state: publisher.state,
    onState: publisher.onState,
    untilWritable: publisher.untilWritable,
    publishing: publisher.publishing,
    stalled: publisher.stalled,
    consume: consumers.consume,
    alone: consumers.alone,
    depth: consumers.depth,
    waitingFor: () => [
      ...(publisher.isConfirming() ? [] : ['confirms of rabbitmq']),
      ...(consumers.isConnected() ? consumers.waitingFor().map((queue) => `queue ${queue}`) : ['rabbitmq']),
    ],
    async [Symbol.asyncDispose]() {
      await consumers[Symbol.asyncDispose]();
      await publisher[Symbol.asyncDispose]();
    },
  };
}
