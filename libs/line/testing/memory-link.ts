import type { ConsumeMessage } from 'amqplib';
import { settled, type TurnedClock } from '@waybell/runtime/turned-clock';
import { publishOptions, readMessage } from '../broker/amqp-message.ts';
import type { Broker, ConsumeCallbacks, BrokerState } from '../broker.ts';
import { openBatch } from '../delivery-batch.ts';
import {
  Unconfirmed,
  Unroutable,
  type OnSettled,
  newSourceId,
  type Message,
  type Publication,
  type Source,
} from '../messages.ts';
import type { MemoryBroker, QueuedMessage } from './memory-broker.ts';

/** A side effect that a process is about to have. */
export type SideEffect =
  | { what: 'publish'; publication: Publication }
  | { what: 'remember'; key: string }
  /** In the waiting room. */
  | { what: 'put' | 'settle' }
  | { what: 'acknowledge'; messages: readonly Message[] };

/** Faults: whether the process dies instead of the side effect, and whether the broker refuses or returns a message. */
export type Fate = {
  diesAt: (effect: SideEffect) => boolean;
  refuses: (publication: Publication) => 'refused' | 'returned' | undefined;
};

/** A consumer of one queue. */
type MemoryConsumer = ConsumeCallbacks & {
  queue: string;
  /** Most messages held of it: an equal share, as if all queues of the step were full. */
  most: number;
  pauses: Set<string>;
  held: Set<Source>;
};

/** No faults. */
const SPARED: Fate = { diesAt: () => false, refuses: () => undefined };

/** A process's connection to the broker in memory. When the process dies, its held messages are requeued, and it has no more effects. */
export class MemoryLink {
  readonly #broker: MemoryBroker;
  readonly #fate: Fate;
  readonly #consumers: MemoryConsumer[] = [];
  readonly #listeners: ((state: BrokerState) => void)[] = [];
  /** Publications that wait for a blocked broker. */
  #waiting: { publication: Publication; onSettled: OnSettled }[] = [];
  #state: BrokerState = 'writable';
  #isDead = false;

  constructor(broker: MemoryBroker, fate = SPARED) {
    this.#broker = broker;
    this.#fate = fate;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get held(): number {
    return heldBy(this.#consumers);
  }

  /** Returns functions that deliver the next message of each queue of which more may be held. */
  handOvers(): (() => void)[] {
    if (this.#isDead) return [];
    const free = this.#consumers.filter(
      ({ queue, pauses, held, most }) => pauses.size === 0 && held.size < most && this.#broker.kept(queue).length > 0,
    );
    return free.map((consumer) => () => this.#handOver(consumer));
  }

  /** Whether the process survives; if not, requeues its messages in their order. */
  survives(effect: SideEffect): boolean {
    if (this.#isDead || !this.#fate.diesAt(effect)) return !this.#isDead;
    for (const { held } of this.#consumers) for (const each of [...held].toReversed()) each.giveBack();
    this.#isDead = true;
    return false;
  }

  /** Changes the state of the broker that the publisher sees. */
  becomes(state: BrokerState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
    const waiting = state === 'blocked' ? [] : this.#waiting.splice(0);
    for (const { publication, onSettled } of waiting) this.asBroker.send(publication, onSettled);
  }

  readonly asBroker: Broker = {
    publish: (publication) =>
      new Promise((resolve, reject) => {
        this.asBroker.send(publication, (error) => (error === undefined ? resolve() : reject(error)));
      }),
    send: (publication, onSettled) => {
      if (this.#state === 'away') return onSettled(new Unconfirmed('the broker is away'));
      if (this.#state === 'blocked') return void this.#waiting.push({ publication, onSettled });
      if (!this.survives({ what: 'publish', publication })) return;
      const refusal = this.#fate.refuses(publication);
      if (refusal === 'refused') return onSettled(new Unconfirmed('message nacked'));
      const isThere = refusal !== 'returned' && this.#broker.publish(publication);
      onSettled(isThere ? undefined : new Unroutable(publication));
    },
    consume: (queues, { messages }, consuming) => {
      const pauses = new Set<string>();
      const most = Math.max(1, Math.floor(messages / queues.length));
      const consumers = queues.map((queue): MemoryConsumer => ({ queue, most, ...consuming, pauses, held: new Set() }));
      this.#consumers.push(...consumers);
      return {
        pause: async (reason) => void pauses.add(reason),
        resume: (reason) => void pauses.delete(reason),
        inHand: () => heldBy(consumers),
      };
    },
    depth: async ([queue = '']) => ({ messages: this.#broker.kept(queue).length, isExact: true }),
    state: () => this.#state,
    onState: (listener) => void this.#listeners.push(listener),
    stalled: () => [],
    publishing: () => ({ unconfirmed: 0, isBlocked: false, stalled: [] }),
    waitingFor: () => [],
    [Symbol.asyncDispose]: async () => undefined,
  };

  #handOver({ queue, held: inHand, onTaken }: MemoryConsumer): void {
    const kept = this.#broker.kept(queue).shift();
    if (kept === undefined) return;
    const isHeld = () => inHand.has(source) && !this.#isDead;
    const raw = readMessage(queue, asConsumed(kept));
    let opened: readonly Message[] | undefined;
    const source: Source = {
      id: newSourceId(),
      raw,
      get messages() {
        return (opened ??= openBatch(raw));
      },
      acknowledge: () =>
        isHeld() && this.survives({ what: 'acknowledge', messages: source.messages }) && inHand.delete(source),
      giveBack: () => {
        if (isHeld()) this.#broker.kept(queue).unshift({ ...kept, deliveryCount: kept.deliveryCount + 1 });
        inHand.delete(source);
      },
    };
    inHand.add(source);
    onTaken(source);
  }
}

function heldBy(consumers: readonly MemoryConsumer[]): number {
  return consumers.reduce((sum, { held }) => sum + held.size, 0);
}

export type Turning = {
  clock: TurnedClock;
  links: readonly MemoryLink[];
  /** No timer runs after this time. */
  end: number;
  /** Chooses among `count` options: the queue to serve next; and, of two, whether another message follows at once (the second). */
  pick?: (count: number) => number;
};

/** Delivers messages, or moves the clock to the next timer if there are none. Resolves with false when nothing is left. */
export async function goOn({ clock, links, end, pick = () => 0 }: Turning): Promise<boolean> {
  const next = () => {
    const handOvers = links.flatMap((link) => link.handOvers());
    return handOvers[pick(handOvers.length) % handOvers.length];
  };
  let handOver = next();
  if (handOver === undefined) {
    if ((clock.nextAt() ?? Infinity) > end) return false;
    clock.step();
  }
  // A socket may deliver several messages at once.
  for (; handOver !== undefined; handOver = pick(2) % 2 === 1 ? next() : undefined) handOver();
  await settled();
  return true;
}

/** Builds the message as amqplib would deliver it. */
export function asConsumed({ publication, deliveryCount }: QueuedMessage): ConsumeMessage {
  const { headers, ...properties } = publishOptions(publication);
  return {
    content: publication.body,
    fields: { exchange: publication.exchange, routingKey: publication.routingKey, redelivered: deliveryCount > 0 },
    properties: { ...properties, headers: { ...headers, 'x-delivery-count': deliveryCount } },
  } as unknown as ConsumeMessage;
}
