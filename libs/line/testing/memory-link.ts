import type { ConsumeMessage } from 'amqplib';
import { publishOptions, readMessage } from '../broker/amqp-message.ts';
import type { Broker } from '../broker/connect-broker.ts';
import type { Consuming } from '../broker/queue-consumer.ts';
import { Unconfirmed, Unroutable } from '../broker/unconfirmed-messages.ts';
import type { Message, Publication, Source } from '../messages.ts';
import type { HeldLimit } from '../prefetch-budget.ts';
import type { Kept, MemoryBroker } from './memory-broker.ts';

/** What a process is about to do. */
export type Edge =
  | { what: 'publish'; publication: Publication }
  | { what: 'remember'; key: string }
  | { what: 'acknowledge'; message: Message };

/** Whether the process dies instead of doing that; and whether the broker refuses a message, or sends it back. */
export type Fate = {
  diesAt: (edge: Edge) => boolean;
  refuses: (publication: Publication) => 'refused' | 'returned' | undefined;
};

type Taking = Consuming & {
  queues: readonly string[];
  limit: HeldLimit;
  pauses: Set<string>;
  held: Set<Source>;
};

const never = () => new Promise<never>(() => undefined);
let lastId = 0;

/** A process's connection. When the process dies, what it holds is back in its queues, and it does nothing more. */
export class MemoryLink {
  readonly #broker: MemoryBroker;
  readonly #fate: Fate;
  readonly #consumers: Taking[] = [];
  #isDead = false;

  constructor(broker: MemoryBroker, fate: Fate) {
    this.#broker = broker;
    this.#fate = fate;
  }

  get held(): number {
    return this.#consumers.reduce((sum, { held }) => sum + held.size, 0);
  }

  /** Each hands the next message of one queue to a consumer that has room for it. */
  handOvers(): (() => void)[] {
    const free = this.#consumers.filter(({ pauses, held, limit }) => pauses.size === 0 && held.size < limit.messages);
    return free.flatMap((consumer) => {
      const filled = consumer.queues.filter((queue) => this.#broker.kept(queue).length > 0);
      return filled.map((queue) => () => this.#handOver(queue, consumer));
    });
  }

  /** Whether the process goes on; at its end, the first that it took is the next to be taken. */
  survives(edge: Edge): boolean {
    if (this.#isDead || !this.#fate.diesAt(edge)) return !this.#isDead;
    for (const { held } of this.#consumers) for (const each of [...held].toReversed()) each.giveBack();
    this.#isDead = true;
    return false;
  }

  readonly asBroker: Broker = {
    publish: (publication) =>
      new Promise((resolve, reject) => {
        this.asBroker.send(publication, (error) => (error === undefined ? resolve() : reject(error)));
      }),
    send: (publication, onSettled) => {
      if (this.survives({ what: 'publish', publication })) onSettled(this.#fateOf(publication));
    },
    consume: (queues, limit, consuming) => {
      const [pauses, held] = [new Set<string>(), new Set<Source>()];
      this.#consumers.push({ queues, limit, ...consuming, pauses, held });
      return {
        pause: async (reason) => void pauses.add(reason),
        resume: (reason) => void pauses.delete(reason),
        held: () => held.size,
      };
    },
    /** Whoever asks is paused for another reason. */
    alone: async (_consumer, _limitMs, work) => {
      const others = this.#consumers.filter(({ pauses }) => pauses.size === 0);
      for (const { pauses } of others) pauses.add('alone');
      while (others.some(({ held }) => held.size > 0)) await this.#broker.clock.sleep(20);
      await work();
      for (const { pauses } of others) pauses.delete('alone');
    },
    /** Of a queue that nobody takes from, once there is something in it: to ask every few seconds would fill days. */
    depth: async ([queue = '']) => {
      const isTaken = this.#consumers.some(({ queues, pauses }) => queues.includes(queue) && pauses.size === 0);
      if (!isTaken) await this.#broker.untilFilled(queue);
      return this.#isDead ? never() : { messages: this.#broker.kept(queue).length, isExact: true };
    },
    state: () => 'writable',
    onState: () => undefined,
    untilWritable: async () => undefined,
    publishing: () => ({ unconfirmed: 0, isBlocked: false }),
    waitingFor: () => [],
    [Symbol.asyncDispose]: async () => undefined,
  };

  #fateOf(publication: Publication): Unconfirmed | Unroutable | undefined {
    const refusal = this.#fate.refuses(publication);
    if (refusal === 'refused') return new Unconfirmed('refused');
    const isRouted = refusal === undefined && this.#broker.publish(publication);
    return isRouted ? undefined : new Unroutable(publication);
  }

  #handOver(queue: string, { held: inHand, onTaken }: Taking): void {
    const kept = this.#broker.kept(queue).shift();
    if (kept === undefined) return;
    const isHeld = () => inHand.has(source) && !this.#isDead;
    const message = readMessage(queue, asConsumed(kept));
    const source: Source = {
      id: ++lastId,
      messages: [message],
      acknowledge: () => isHeld() && this.survives({ what: 'acknowledge', message }) && inHand.delete(source),
      giveBack: () => {
        if (isHeld()) this.#broker.kept(queue).unshift({ ...kept, deliveryCount: kept.deliveryCount + 1 });
        inHand.delete(source);
      },
    };
    inHand.add(source);
    onTaken(source);
  }
}

/** As the client library brings it. */
function asConsumed({ publication, deliveryCount }: Kept): ConsumeMessage {
  const { headers, ...properties } = publishOptions(publication);
  return {
    content: publication.body,
    fields: { exchange: publication.exchange, routingKey: publication.routingKey, redelivered: deliveryCount > 0 },
    properties: { ...properties, headers: { ...headers, 'x-delivery-count': deliveryCount } },
  } as unknown as ConsumeMessage;
}
