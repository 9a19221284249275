import type { ConsumeMessage } from 'amqplib';
import { settled, type TurnedClock } from '@waybell/runtime/turned-clock';
import { publishOptions, readMessage } from '../broker/amqp-message.ts';
import type { Broker } from '../broker/connect-broker.ts';
import type { BrokerState } from '../broker-state.ts';
import { openBundle } from '../bundle.ts';
import type { Consuming } from '../broker/queue-consumer.ts';
import { Unconfirmed, Unroutable, type OnSettled } from '../publish-errors.ts';
import { newSourceId, type Message, type Publication, type Source } from '../messages.ts';
import type { MemoryBroker, QueuedMessage } from './memory-broker.ts';

/** What a process is about to do. */
export type SideEffect =
  | { what: 'publish'; publication: Publication }
  | { what: 'remember'; key: string }
  /** What is done where deliveries are parked. */
  | { what: 'insert'; deliveries: readonly string[] }
  | { what: 'remove' }
  | { what: 'acknowledge'; messages: readonly Message[] };

/** Whether the process dies instead of doing that; and whether the broker refuses a message, or sends it back. */
export type Fate = {
  diesAt: (effect: SideEffect) => boolean;
  refuses: (publication: Publication) => 'refused' | 'returned' | undefined;
};

/** What is taken of one queue. */
type MemoryConsumer = Consuming & {
  queue: string;
  /** What is held of it at most: an equal share, as where all queues of a step want more than they can have. */
  most: number;
  pauses: Set<string>;
  held: Set<Source>;
};

/** Nothing happens to it. */
const SPARED: Fate = { diesAt: () => false, refuses: () => undefined };
const never = () => new Promise<never>(() => undefined);

/** A process's connection. When the process dies, what it holds is back in its queues, and it does nothing more. */
export class MemoryLink {
  readonly #broker: MemoryBroker;
  readonly #fate: Fate;
  readonly #consumers: MemoryConsumer[] = [];
  readonly #listeners: ((state: BrokerState) => void)[] = [];
  /** Sent while the broker takes nothing. */
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

  /** Each hands over the next message of a queue of which more may be held. */
  handOvers(): (() => void)[] {
    if (this.#isDead) return [];
    const free = this.#consumers.filter(
      ({ queue, pauses, held, most }) => pauses.size === 0 && held.size < most && this.#broker.kept(queue).length > 0,
    );
    return free.map((consumer) => () => this.#handOver(consumer));
  }

  /** Whether the process goes on; at its end, the first that it took is the next to be taken. */
  survives(effect: SideEffect): boolean {
    if (this.#isDead || !this.#fate.diesAt(effect)) return !this.#isDead;
    for (const { held } of this.#consumers) for (const each of [...held].toReversed()) each.giveBack();
    this.#isDead = true;
    return false;
  }

  /** What its publisher knows of the broker from now on. */
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
        held: () => heldBy(consumers),
      };
    },
    /** The caller is paused for another reason. */
    alone: async (_consumer, _among, work) => {
      const others = this.#consumers.filter(({ pauses }) => pauses.size === 0);
      for (const { pauses } of others) pauses.add('alone');
      while (heldBy(others) > 0) await this.#broker.clock.sleep(20);
      await work();
      for (const { pauses } of others) pauses.delete('alone');
    },
    /** Answers for a queue without a consumer once it holds something: to ask every few seconds would fill days. */
    depth: async ([queue = '']) => {
      const isTaken = this.#consumers.some((consumer) => consumer.queue === queue && consumer.pauses.size === 0);
      if (!isTaken) await this.#broker.untilFilled(queue);
      return this.#isDead ? never() : { messages: this.#broker.kept(queue).length, isExact: true };
    },
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
        return (opened ??= openBundle(raw));
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
  /** Nothing happens after this. */
  end: number;
  /** Chooses which of so many queues with something in them is served next; or whether, of two, another comes at once: the second. */
  pick?: (count: number) => number;
};

/** Lets the next thing happen: hands messages over, or goes on in time where there are none. False when nothing is left. */
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
  // A socket brings several at once.
  for (; handOver !== undefined; handOver = pick(2) % 2 === 1 ? next() : undefined) handOver();
  await settled();
  return true;
}

/** As the client library brings it. */
function asConsumed({ publication, deliveryCount }: QueuedMessage): ConsumeMessage {
  const { headers, ...properties } = publishOptions(publication);
  return {
    content: publication.body,
    fields: { exchange: publication.exchange, routingKey: publication.routingKey, redelivered: deliveryCount > 0 },
    properties: { ...properties, headers: { ...headers, 'x-delivery-count': deliveryCount } },
  } as unknown as ConsumeMessage;
}
