import { createMetrics } from '@waybell/runtime/metrics';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import type { Broker } from '../broker.ts';
import { connectBroker, type BrokerOptions } from '../broker/connect-broker.ts';
import { oneByOne, reject, type Message, type Outgoing, type Publication } from '../messages.ts';
import type { InHandLimit } from '../prefetch-budget.ts';
import { runStep, type Step, type StepTools } from '../run-step.ts';
import { deliveriesExchange } from '../topology.ts';
import { smallTopology, type TestBroker } from './test-broker.ts';

const metrics = createMetrics('test');
const exchanges = smallTopology.exchanges.map(({ name }) => name);

export const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));

export const limitOf = (messages: number): InHandLimit => ({ messages, bytes: 2 ** 30 });

/** Builds a publication of `body` to that queue. */
export const to = (queue: string, body: string): Publication => ({
  kind: 'publish',
  exchange: deliveriesExchange,
  routingKey: queue,
  body: Buffer.from(body),
  messageId: body,
});

export type ALineOptions = Partial<Omit<Step<Message>, 'handle' | 'queues'>> & {
  moreQueues?: string[];
  handle?: (body: string, message: Message) => Promise<readonly Outgoing[]>;
  tools?: Partial<StepTools>;
  broker?: Partial<BrokerOptions>;
};

/**
 * Declares an `input` and an `output` queue on a real broker, for a step that `run` starts. Its handler moves bodies from one to the
 * other unless given another one. The body `nonsense` is rejected.
 */
export async function aLine(testBroker: TestBroker, options: ALineOptions = {}) {
  const { tools, broker: brokerOptions, handle, moreQueues, ...stepOptions } = options;
  const [input, output, name] = [await testBroker.queue(), await testBroker.queue(), await testBroker.step()];
  const seen: Message[] = [];
  const step: Step<Message> = {
    name,
    queues: [input, ...(moreQueues ?? [])],
    inHandLimit: limitOf(100),
    parse: (message) => (message.body.toString() === 'nonsense' ? reject('nonsense', 'it says so') : message),
    describe: () => ({}),
    ...stepOptions,
    handle: oneByOne(async (message) => {
      seen.push(message);
      const body = message.body.toString();
      return handle === undefined ? [to(output, body)] : handle(body, message);
    }),
  };
  return {
    input,
    output,
    name,
    /** Messages that the handler got, in order. */
    seen,
    /** Starts another process of the step, with other options if given. */
    async run(
      way: Pick<ALineOptions, 'tools' | 'broker'> = {},
    ): Promise<AsyncDisposable & { broker: Broker; waitingFor: () => string[] }> {
      const broker = await connectBroker({
        url: testBroker.url,
        name: 'test',
        exchanges,
        confirmTimeoutMs: 30_000,
        unconfirmedLimit: 1_000,
        log,
        ...brokerOptions,
        ...way.broker,
      });
      const running = runStep(step, { broker, log, metrics, suspectsAfterMs: 0, ...tools, ...way.tools });
      return {
        broker,
        waitingFor: () => running.waitingFor(),
        async [Symbol.asyncDispose]() {
          await running[Symbol.asyncDispose]();
          await broker[Symbol.asyncDispose]();
        },
      };
    },
  };
}
