import type { Log } from '@waybell/runtime/log';
import { openConsumers, type Consumers } from './consumers.ts';
import { openPublisher, type Publisher } from './publisher.ts';
import {
  deliveriesExchange,
  outcomesExchange,
  rejectedExchange,
  retryExchange,
  suspectsExchange,
} from '../topology.ts';

/** RabbitMQ as the line sees it: one connection to publish, one to consume, so that neither can block the other. */
export type Broker = AsyncDisposable &
  Pick<Publisher, 'publish' | 'isWritable' | 'untilWritable'> &
  Pick<Consumers, 'consume'> & {
    /** What the broker side waits for: empty when both connections work and every queue is consumed. */
    waitingFor(): string[];
  };

export type BrokerOptions = {
  url: string;
  /** Shown in the broker's list of connections. */
  name: string;
  confirmTimeoutMs: number;
  unconfirmedLimit: number;
  log: Log;
  heartbeatSeconds?: number;
};

const UNCONFIRMED_BYTES_LIMIT = 64 * 2 ** 20;
const EXCHANGES = [deliveriesExchange, retryExchange, outcomesExchange, suspectsExchange, rejectedExchange];

/** Connects in the background and stays connected. Closing it flushes: first what was consumed, then what was published. */
export async function connectBroker(options: BrokerOptions): Promise<Broker> {
  const common = { heartbeatSeconds: 10, ...options };
  const publisher = await openPublisher({
    ...common,
    exchanges: EXCHANGES,
    unconfirmedBytesLimit: UNCONFIRMED_BYTES_LIMIT,
  });
  const consumers = await openConsumers(common);
  return {
    publish: publisher.publish,
    isWritable: publisher.isWritable,
    untilWritable: publisher.untilWritable,
    consume: consumers.consume,
    waitingFor: () => [
      ...(publisher.isWritable() ? [] : ['rabbitmq']),
      ...(publisher.isConfirming() ? [] : ['confirms of rabbitmq']),
      ...consumers.waitingFor().map((queue) => `queue ${queue}`),
    ],
    async [Symbol.asyncDispose]() {
      await consumers[Symbol.asyncDispose]();
      await publisher[Symbol.asyncDispose]();
    },
  };
}
