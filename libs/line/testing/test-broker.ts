import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { connect, type ConfirmChannel, type GetMessage, type Options } from 'amqplib';
import { startServers, type Servers } from '@waybell/cli/stack/servers';
import { declareTopology } from '../declare.ts';
import { deliveriesExchange, suspectsExchange, suspectsQueue, topology } from '../topology.ts';
import { until } from './until.ts';

/** Exchanges and queues of the line, for one action. */
export const smallTopology = topology({
  actionKeys: ['carrier.order.created'],
  retryDelaysMs: () => [100],
  eventsLimitBytes: 2 ** 20,
  quorumSize: 1,
});

let named = 0;

/** A RabbitMQ of its own with the line declared, and hands in it that are not the line's. */
export class TestBroker implements AsyncDisposable {
  readonly servers: Servers;
  readonly url: string;
  readonly #home: string;

  constructor(servers: Servers, home: string) {
    this.servers = servers;
    this.url = servers.url('rabbitmq');
    this.#home = home;
  }

  static async start(only: ('rabbitmq' | 'redis')[] = ['rabbitmq']): Promise<TestBroker> {
    const home = mkdtempSync(join(tmpdir(), 'waybell-line-'));
    const broker = new TestBroker(await startServers({ home, only }), home);
    await declareTopology(broker.url, smallTopology);
    return broker;
  }

  get process(): ReturnType<Servers['process']> {
    return this.servers.process('rabbitmq');
  }

  /** Stops it in mid-air (SIGSTOP) or lets it go on (SIGCONT). */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    const pid = this.process.identity?.pid;
    if (pid !== undefined) process.kill(pid, signal);
  }

  /** Before a `kill -9`: RabbitMQ writes its list of queues with a delay, and would forget one declared just now. */
  async rememberQueues(): Promise<void> {
    await this.control('eval', '[dets:sync(Table) || Table <- dets:all()].');
  }

  /** Runs `rabbitmqctl`. */
  async control(...args: string[]): Promise<string> {
    const { command, env } = this.process.spec;
    const { stdout } = await promisify(execFile)(join(dirname(command), 'rabbitmqctl'), ['-q', ...args], { env });
    return stdout;
  }

  /** The memory alarm: while it is on, the broker takes nothing from publishers. */
  async alarm(isOn: boolean): Promise<void> {
    await this.control('set_vm_memory_high_watermark', isOn ? '0.000001' : '0.4');
  }

  /** Works on a connection of its own, made for it. */
  async on<T>(work: (channel: ConfirmChannel) => Promise<T>): Promise<T> {
    const connection = await connect(this.url);
    connection.on('error', () => undefined);
    try {
      const channel = await connection.createConfirmChannel();
      channel.on('error', () => undefined);
      return await work(channel);
    } finally {
      await connection.close().catch(() => undefined);
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

  /** A new service with its suspects lane. */
  async service(): Promise<string> {
    const service = `service-${(named += 1)}`;
    await this.on(async (channel) => {
      await channel.assertQueue(suspectsQueue(service), { durable: true, arguments: { 'x-queue-type': 'quorum' } });
      await channel.bindQueue(suspectsQueue(service), suspectsExchange, service);
    });
    return service;
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

  /** Takes everything that is ready. */
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

  /** Takes from the queue until `count` messages have come, and resolves with their bodies. */
  async takeBodies(queue: string, count: number): Promise<string[]> {
    const bodies: string[] = [];
    return until(`${count} messages are in ${queue}`, async () => {
      bodies.push(...(await this.take(queue)).map(({ content }) => content.toString()));
      return bodies.length >= count && bodies;
    });
  }

  async ready(queue: string): Promise<number> {
    return this.on(async (channel) => (await channel.checkQueue(queue)).messageCount);
  }

  async consumersOf(queue: string): Promise<number> {
    return this.on(async (channel) => (await channel.checkQueue(queue)).consumerCount);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGCONT');
    await this.servers.stop();
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** Sockets of this process that are open: none once everything was closed. */
export function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'TCPServerWrap').length;
}
