import type { MemoryWaiting } from '@waybell/line/waiting-room/testing/memory-waiting-store';
import type { WaitingStore } from '@waybell/line/waiting-room/waiting-store';
import type { Clock } from '@waybell/runtime/clock';
import { roomOf, type Hold } from '@waybell/deliverer/flow/endpoint';
import type { DeliveryTarget } from '@waybell/deliverer/find-target';
import { holdOf } from '@waybell/deliverer/deliver';
import type { Receiver } from './receivers.ts';

export const subscriptionOf = (place: number): string => `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;
export const numberOf = (subscription: string): number => Number.parseInt(subscription.slice(-12), 10);

type SimulatedSubscriptionsOptions = {
  receivers: readonly Receiver[];
  waiting: MemoryWaiting;
  clock: Clock;
  /** How long Postgres takes to answer. Absent: no time. */
  postgresMs?: (() => number) | undefined;
};

/** The subscriptions of receivers, one each, as Postgres has them: held and released when their receivers say. */
export class SimulatedSubscriptions {
  readonly #options: SimulatedSubscriptionsOptions;
  readonly #held = new Map<string, Hold | undefined>();

  constructor(options: SimulatedSubscriptionsOptions) {
    this.#options = options;
    const { receivers, waiting, clock } = options;
    const places = new Map(receivers.map((_, place) => [this.#ownRoom(place), place]));
    waiting.heldUntil = (room) => {
      const place = places.get(room);
      if (place === undefined) return Infinity;
      const hold = holdOf(this.target(subscriptionOf(place)), clock.now());
      return hold === undefined ? -Infinity : (hold.until ?? Infinity);
    };
    for (const [place, { holds = [] }] of receivers.entries())
      for (const { at, hold } of holds) clock.after(at, () => this.#change(place, hold));
  }

  target(subscription: string): DeliveryTarget {
    const receiver = this.#options.receivers[numberOf(subscription)];
    if (receiver === undefined) throw new Error(`no receiver of ${subscription}`);
    const { account = subscription, host = subscription, path = subscription } = receiver;
    const held = this.#held.get(subscription);
    return {
      state: 'active',
      isFeatureOn: true,
      reportsSuccess: false,
      account,
      callbackUrl: `https://${host}.example/${path}`,
      verificationToken: '',
      signingSecrets: [],
      ...(held !== undefined && { held }),
    };
  }

  /** The targets may have changed by the time the answer comes. */
  readonly find = async (subscriptions: readonly string[]): Promise<readonly DeliveryTarget[]> => {
    const found = subscriptions.map((guid) => this.target(guid));
    await this.#answer();
    return found;
  };

  /** The waiting room, as slow as the rest of Postgres. */
  slowly(store: WaitingStore): WaitingStore {
    if (this.#options.postgresMs === undefined) return store;
    const slow = <Given extends unknown[], T>(ask: (...given: Given) => Promise<T>) => {
      return async (...given: Given) => {
        await this.#answer();
        const answer = await ask(...given);
        await this.#answer();
        return answer;
      };
    };
    return { ...store, put: slow(store.put), take: slow(store.take), move: slow(store.move), claim: slow(store.claim) };
  }

  async #answer(): Promise<void> {
    const { postgresMs, clock } = this.#options;
    if (postgresMs !== undefined) await clock.sleep(postgresMs());
  }

  #ownRoom(place: number): string {
    const subscription = subscriptionOf(place);
    return roomOf(this.target(subscription), { subscription, hold: { why: 'stopped' } }).room;
  }

  /** Does what the database trigger does. */
  #change(place: number, hold: Hold | undefined): void {
    const subscription = subscriptionOf(place);
    this.#held.set(subscription, hold);
    const { waiting } = this.#options;
    waiting.changed(roomOf(this.target(subscription), { subscription, hold: undefined }).room);
    waiting.changed(this.#ownRoom(place));
  }
}
