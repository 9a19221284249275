import { connect, type ConfirmChannel, type GetMessage, type Options } from 'amqplib';
import { borrowBreakable, borrowVhost, type Breakable } from '@waybell/runtime/testing/borrow';
import { readMessage } from '../broker/amqp-message.ts';
import { close, stateOf, type QueueState } from '../broker/broker-connection.ts';
import { openBatch } from '../delivery-batch.ts';
import type { Message } from '../messages.ts';
import { declareTopology } from '../operating/declare.ts';
import { deliveriesExchange, suspectsExchange, suspectsQueue, topology } from '../topology.ts';
import { Detour } from '@waybell/runtime/testing/detour';
import { until } from '@waybell/runtime/testing/until';

/** The line's topology for one action. */
export const smallTopology = topology({
  actionKeys: ['carrier.order.created'],
  locationKeys: [],
  retryDelaysMs: () => [100, 3_600_000],
  eventsLimitBytes: 2 ** 20,
  quorumSize: 1,
});

let named = 0;

/**
 * A RabbitMQ with the line declared, direct access to its queues, and a proxy that can break the connection. Disposal checks that this
 * process has no open sockets.
 */
export class TestBroker implements AsyncDisposable {
  readonly url: string;
  readonly detour: Detour;

  protected constructor(url: string, detour: Detour) {
    this.url = url;
    this.detour = detour;
  }

  /** A virtual host of its own, on a broker that other tests use at the same time. */
  static async start(): Promise<TestBroker> {
    const { url } = await borrowVhost();
    const broker = new TestBroker(url, await Detour.to(url));
    await declareTopology(broker, smallTopology);
    return broker;
  }

  /** Works on a connection of its own: during an alarm the broker blocks connections that have published. */
  async on<T>(work: (channel: ConfirmChannel) => Promise<T>): Promise<T> {
    // Otherwise Nagle's algorithm delays each `get` after an acknowledgement by 40 ms.
    const connection = await connect(this.url, { noDelay: true });
    connection.on('error', () => undefined);
    try {
      const channel = await connection.createConfirmChannel();
      channel.on('error', () => undefined);
      return await work(channel);
    } finally {
      await close(connection).catch(() => undefined);
    }
  }

  /** A new queue, with a key under which `waybell.deliveries` reaches it. */
  async queue(args: Record<string, unknown> = {}): Promise<string> {
    const name = `waybell.test.${(named += 1)}`;
    await this.declare(name, args);
    return name;
  }

  async declare(name: string, args: Record<string, unknown> = {}): Promise<void> {
    await this.on(async (channel) => {
      await channel.assertQueue(name, { durable: true, arguments: { 'x-queue-type': 'quorum', ...args } });
      await channel.bindQueue(name, deliveriesExchange, name);
    });
  }

  /** A new step with its suspects lane. */
  async step(): Promise<string> {
    const step = `step-${(named += 1)}`;
    const queue = suspectsQueue(step);
    await this.on(async (channel) => {
      await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
      await channel.bindQueue(queue, suspectsExchange, step);
    });
    return step;
  }

  async delete(queue: string): Promise<void> {
    await this.on(async (channel) => channel.deleteQueue(queue));
  }

  /** Puts messages into a queue; resolves when they are confirmed. */
  async put(queue: string, bodies: readonly string[], options: Options.Publish = {}): Promise<void> {
    await this.on(async (channel) => {
      for (const body of bodies) channel.sendToQueue(queue, Buffer.from(body), { persistent: true, ...options });
      await channel.waitForConfirms();
    });
  }

  /** Takes all ready messages. */
  async take(queue: string): Promise<GetMessage[]> {
    return this.on(async (channel) => {
      const taken: GetMessage[] = [];
      for (;;) {
        const message = await channel.get(queue, { noAck: true });
        if (message === false) return taken;
        taken.push(message);
      }
    });
  }

  /** Takes all ready deliveries out of their batches. */
  async takeDeliveries(queue: string): Promise<Message[]> {
    return (await this.take(queue)).flatMap((taken) => openBatch(readMessage(queue, taken)));
  }

  /** Takes from the queue until `count` messages have come, and resolves with their bodies. */
  async takeBodies(queue: string, count: number): Promise<string[]> {
    const bodies: string[] = [];
    return until(`${count} messages are in ${queue}`, async () => {
      bodies.push(...(await this.take(queue)).map(({ content }) => content.toString()));
      return bodies.length >= count && bodies;
    });
  }

  async ready(queue: string): Promise<number> {
    return (await this.#known(queue)).messages;
  }

  async consumersOf(queue: string): Promise<number> {
    return (await this.#known(queue)).consumers;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.detour[Symbol.asyncDispose]();
    await until('every socket is closed', () => openSockets() === 0);
  }

  async #known(queue: string): Promise<QueueState> {
    return until(`the state of ${queue} is known`, async () => {
      const state = await this.on((channel) => stateOf(channel, queue));
      return state.isKnown && state;
    });
  }
}

/** A broker for this test alone, which may stop, kill and fill it. Disposal repairs it for the next test. */
export class BreakableBroker extends TestBroker {
  readonly servers: Breakable;

  private constructor(servers: Breakable, detour: Detour) {
    super(servers.rabbitmqUrl, detour);
    this.servers = servers;
  }

  static override async start(): Promise<BreakableBroker> {
    const servers = await borrowBreakable();
    const broker = new BreakableBroker(servers, await Detour.to(servers.rabbitmqUrl));
    await declareTopology(broker, smallTopology);
    return broker;
  }

  get process(): Breakable['rabbitmq'] {
    return this.servers.rabbitmq;
  }

  /** Flushes queues and bindings to disk: RabbitMQ writes them with a delay, and a `kill -9` would lose the latest. */
  async rememberQueues(): Promise<void> {
    await this.evaluate('catch mnesia:sync_log(), [dets:sync(Table) || Table <- dets:all()]');
  }

  evaluate(expression: string): Promise<string> {
    return this.servers.evaluate(expression);
  }

  /** Switches the memory alarm, which blocks publishers. Resolves when the alarm is in effect. */
  async alarm(isOn: boolean): Promise<void> {
    await this.evaluate(`vm_memory_monitor:set_vm_memory_high_watermark(${isOn ? '0.000001' : '0.4'})`);
    await until('the alarm is in effect', async () => {
      return ((await this.evaluate('rabbit_alarm:get_alarms()')) !== '[]') === isOn;
    });
  }

  /** Sets the delivery acknowledgement timeout of channels opened from now on. */
  async consumerTimeout(limitMs: number): Promise<void> {
    await this.evaluate(`application:set_env(rabbit, consumer_timeout, ${limitMs})`);
  }

  /** Makes every channel check that timeout now; by itself it does so once a minute. */
  async lookAtHeld(): Promise<void> {
    await this.evaluate('[Channel ! tick || Channel <- rabbit_channel:list_local()]');
  }

  /** Suspends or resumes the leader process of a queue; or ends it, and starts it again. */
  async leader(queue: string, verb: 'suspend' | 'resume' | 'kill' | 'restart'): Promise<void> {
    const name = `'${this.#vhost}_${queue}'`;
    const calls = {
      suspend: `sys:suspend(${name})`,
      resume: `sys:resume(${name})`,
      kill: `ra:stop_server(quorum_queues, {${name}, node()})`,
      restart: `ra:restart_server(quorum_queues, {${name}, node()})`,
    };
    await this.evaluate(calls[verb]);
  }

  get #vhost(): string {
    return new URL(this.url).pathname.slice(1);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.servers[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}

/** Counts the open sockets of this process. */
export function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'TCPServerWrap').length;
}
