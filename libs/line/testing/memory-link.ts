import type { ConfirmChannel, ConsumeMessage } from 'amqplib';
import type { Broker } from '../broker/connect-broker.ts';
import type { Held } from '../broker/held.ts';
import { publishOptions } from '../broker/publish-options.ts';
import { readMessage } from '../broker/read-message.ts';
import { UnconfirmedMessages } from '../broker/unconfirmed-messages.ts';
import type { Hold } from '../hold.ts';
import type { Message, Publication } from '../messages.ts';
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

type Consumer = {
  queues: readonly string[];
  hold: Hold;
  onMessage: (held: Held) => void;
  pauses: Set<string>;
  held: Set<Held>;
};

const never = () => new Promise<never>(() => undefined);

/** A process's connection. When the process dies, what it holds is back in its queues, and it does nothing more. */
export class MemoryLink {
  readonly #broker: MemoryBroker;
  readonly #fate: Fate;
  readonly #unconfirmed: UnconfirmedMessages;
  readonly #consumers: Consumer[] = [];
  #isDead = false;

  constructor(broker: MemoryBroker, fate: Fate) {
    this.#broker = broker;
    this.#fate = fate;
    this.#unconfirmed = new UnconfirmedMessages(broker.clock);
  }

  get held(): number {
    return this.#consumers.reduce((sum, { held }) => sum + held.size, 0);
  }

  /** Each hands the next message of one queue to a consumer that has room for it. */
  handOvers(): (() => void)[] {
    const free = this.#consumers.filter(({ pauses, held, hold }) => pauses.size === 0 && held.size < hold.messages);
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
    publish: async (publication) =>
      this.survives({ what: 'publish', publication })
        ? this.#unconfirmed.send(this.#channelFor(publication), publication)
        : never(),
    consume: (queues, hold, onMessage) => {
      const pauses = new Set<string>();
      this.#consumers.push({ queues, hold, onMessage, pauses, held: new Set() });
      return { pause: async (reason) => void pauses.add(reason), resume: (reason) => void pauses.delete(reason) };
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
    isWritable: () => true,
    untilWritable: async () => undefined,
    isBlocked: () => false,
    onBlocked: () => undefined,
    publishing: () => ({ unconfirmed: 0, isBlocked: false }),
    waitingFor: () => [],
    [Symbol.asyncDispose]: async () => undefined,
  };

  /** As much of a channel as publishing takes: a return comes before its confirm. */
  #channelFor(publication: Publication): ConfirmChannel {
    const publish: ConfirmChannel['publish'] = (exchange, routingKey, _content, options, confirm) => {
      const refusal = this.#fate.refuses(publication);
      if (refusal === undefined ? !this.#broker.publish(publication) : refusal === 'returned') {
        this.#unconfirmed.returned({ exchange, routingKey, messageId: options?.messageId });
      }
      confirm?.(refusal === 'refused' ? new Error('refused') : null, {});
      return true;
    };
    return { publish } as ConfirmChannel;
  }

  #handOver(queue: string, { held: inHand, onMessage }: Consumer): void {
    const kept = this.#broker.kept(queue).shift();
    if (kept === undefined) return;
    const isHeld = () => inHand.has(held) && !this.#isDead;
    const message = readMessage(queue, asConsumed(kept));
    const held: Held = {
      message,
      isHeld,
      ack: () => isHeld() && this.survives({ what: 'acknowledge', message }) && inHand.delete(held),
      giveBack: () => {
        if (isHeld()) this.#broker.kept(queue).unshift({ ...kept, deliveryCount: kept.deliveryCount + 1 });
        inHand.delete(held);
      },
    };
    inHand.add(held);
    onMessage(held);
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
