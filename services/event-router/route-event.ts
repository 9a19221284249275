import { actionKey } from '@waybell/catalog/actions';
import { decodeBody, unpackedBytes, readEvent, type EventLimits } from '@waybell/events/read-event';
import { type Event, keysOf } from '@waybell/events/event';
import { publishDelivery, type Delivery } from '@waybell/line/delivery';
import { MOST_MEMBERS } from '@waybell/line/delivery-batch';
import {
  noResult,
  reject,
  type Fate,
  type Handler,
  type Message,
  type Outgoing,
  type Parse,
  type Rejection,
} from '@waybell/line/messages';
import type { KeptEvent, Addressed, Routed, Suppression } from '@waybell/line/outcomes';
import type { SuppressionReason } from '@waybell/line/reasons';
import { messageGuid, notify, type NotificationTarget, type Notification } from '@waybell/notifications/notification';
import { refuseEvent } from '@waybell/rejected/reject-event';
import { Budget } from '@waybell/runtime/budget';
import { isTraceparent } from '@waybell/runtime/traceparent';
import type { Action } from '@waybell/catalog/action';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';

/** An event as it arrived, its size, and its trace. */
export type Arrival = {
  event: Event;
  bytes: number;
  /** Returns the event as it was published, for these accounts. */
  keptFor: (accounts: readonly string[]) => KeptEvent;
  traceparent?: string;
};

export type RouteEventOptions = {
  findSubscriptions: FindSubscriptions;
  now: () => number;
};

/** Limits of the deliveries, and bytes, of one event on their way to the broker at once. */
const MOST_AT_ONCE = { deliveries: 256, bytes: 2 ** 21 };
/** Approximate memory of a delivery without its body. */
const DELIVERY_OVERHEAD_BYTES = 2_560;

/** Memory for deliveries under way at once, over all events that cause many or large ones. */
const BUDGET_BYTES = 8 * MOST_AT_ONCE.bytes;
/** An event whose deliveries need less does not count in the budget. */
const SMALL_BYTES = 2 ** 16;

/**
 * Routes events: each causes a delivery for each subscription of each receiving account, and a record of its fate. Many or large
 * deliveries are caused in batches, by only a few events at a time.
 */
export function routeEvents({ findSubscriptions, now }: RouteEventOptions): Handler<Arrival> {
  const budget = new Budget(BUDGET_BYTES);

  function route(arrival: Arrival, found: FoundSubscriptions, taken: number): Fate {
    const fanOut = new FanOut(arrival, found, now());
    if (taken === 0) return { kind: 'done', caused: atOnce(fanOut) };
    return { kind: 'done', caused: { next: () => fanOut.next(), end: () => budget.release(taken) } };
  }

  /** Waits for budget. Keeps nothing meanwhile: what was found may take as much memory as the deliveries, so it is found again. */
  async function routeLater(arrival: Arrival, needed: number): Promise<Fate> {
    let taken = 0;
    try {
      for (let wanted = needed; ;) {
        await budget.acquire(wanted);
        taken = wanted;
        const [found = []] = await findSubscriptions([arrival.event]);
        wanted = weigh(arrival, found);
        if (wanted <= taken) return route(arrival, found, taken);
        budget.release(taken);
        taken = 0;
      }
    } catch (error) {
      budget.release(taken);
      return noResult(error);
    }
  }

  return async (arrivals) => {
    const all = await findSubscriptions(arrivals.map(({ event }) => event));
    return (place, end) => {
      const arrival = arrivals[place];
      const found = all[place];
      if (arrival === undefined || found === undefined) throw new Error('there is an answer for each event');
      const needed = weigh(arrival, found);
      if (needed === 0 || budget.tryAcquire(needed)) end(route(arrival, found, needed));
      else void routeLater(arrival, needed).then(end);
    };
  };
}

/** Returns the budget that the deliveries need, in bytes: at most that of a batch. */
function weigh({ bytes }: Arrival, found: FoundSubscriptions): number {
  let count = 0;
  for (const subscriptions of found) count += subscriptions?.length ?? 0;
  const all = count * (bytes + DELIVERY_OVERHEAD_BYTES);
  return all < SMALL_BYTES ? 0 : Math.min(all, MOST_AT_ONCE.bytes);
}

function atOnce(fanOut: FanOut): Outgoing[] {
  const all = fanOut.next() ?? [];
  for (let batch = fanOut.next(); batch !== undefined; batch = fanOut.next()) all.push(...batch);
  return all;
}

/**
 * The effects of an event in batches: one delivery for each subscription, and with the last ones a record of the deliveries made and
 * of the subscriptions that got nothing, with the reason. Bodies are made batch by batch.
 */
class FanOut {
  readonly #arrival: Arrival;
  readonly #found: FoundSubscriptions;
  readonly #at: number;
  readonly #deliveries: Addressed[] = [];
  readonly #suppressed: Suppression[] = [];
  /** Indexes of the receiver and of its subscription that come next. */
  #place = 0;
  #next = 0;
  #announce: ((target: NotificationTarget) => Notification) | undefined;

  /** `found`: in the order of `event.receivers`. `at`: time of the decision. */
  constructor(arrival: Arrival, found: FoundSubscriptions, at: number) {
    this.#arrival = arrival;
    this.#found = found;
    this.#at = at;
  }

  /** Returns the next batch; undefined after the last. */
  next(): Outgoing[] | undefined {
    const { receivers } = this.#arrival.event;
    if (this.#place > receivers.length) return undefined;
    const caused: Outgoing[] = [];
    let bytes = 0;
    let last: Buffer | undefined;
    for (; this.#place < receivers.length; this.#place += 1, this.#next = 0) {
      const account = receivers[this.#place] ?? '';
      const subscriptions = this.#found[this.#place] ?? NONE;
      if (subscriptions.length === 0) this.#suppressed.push({ reason: 'no_subscription', account });
      for (; this.#next < subscriptions.length; this.#next += 1) {
        if (caused.length >= MOST_AT_ONCE.deliveries || bytes >= MOST_AT_ONCE.bytes) return caused;
        const subscription = subscriptions[this.#next];
        const delivery = subscription && this.#deliver(subscription, account);
        if (delivery === undefined) continue;
        const { body } = delivery;
        // Deliveries with the same body travel in a batch, which has the body once.
        bytes += body === last ? body.length / MOST_MEMBERS : body.length;
        last = body;
        caused.push(publishDelivery(delivery, actionKey(this.#arrival.event.action)));
      }
    }
    this.#place += 1;
    caused.push(this.#record());
    return caused;
  }

  /** Returns the delivery to a subscription; undefined, with a note of the reason, if it gets none. */
  #deliver(subscription: ActiveSubscription, account: string): Delivery | undefined {
    const { event, traceparent } = this.#arrival;
    const { guid, generation, auditFieldSet, isFeatureOn } = subscription;
    if (!isFeatureOn) return this.#suppress('feature_off', subscription, account);
    const message = messageGuid(event.guid, guid);
    this.#announce ??= notify(event);
    const notification = this.#announce({ auditFieldSet, messageGuid: message });
    if (notification.kind === 'suppressed') return this.#suppress(notification.reason, subscription, account);
    this.#deliveries.push({ subscription: guid, account });
    const delivery: Delivery = {
      guid: message,
      interface: event.action.interface,
      action: event.action.name,
      subscription: guid,
      generation,
      event: event.guid,
      attempt: 1,
      createdAt: this.#at,
      beganAt: this.#at,
      body: notification.body,
    };
    if (traceparent !== undefined) delivery.traceparent = traceparent;
    return delivery;
  }

  #suppress(reason: SuppressionReason, { client, guid: subscription }: ActiveSubscription, account: string): undefined {
    this.#suppressed.push({ reason, account, client, subscription });
  }

  #record(): Outgoing {
    const { event, keptFor } = this.#arrival;
    const { receivers } = event;
    const found = this.#found;
    // Most events are for known accounts only.
    const known = found.includes(undefined) ? receivers.filter((_, place) => found[place] !== undefined) : receivers;
    const outcome = routed(event, { at: this.#at, deliveries: this.#deliveries, suppressed: this.#suppressed });
    if (known.length > 0) outcome.kept = keptFor(known);
    return { kind: 'outcome', outcome };
  }
}

const NONE: readonly ActiveSubscription[] = [];

/** Returns the record of an event's fate. */
function routed(
  event: Event,
  { at, deliveries, suppressed }: Pick<Routed, 'at' | 'deliveries' | 'suppressed'>,
): Routed {
  return {
    kind: 'routed',
    event: event.guid,
    interface: event.action.interface,
    action: event.action.name,
    at,
    keys: keysOf(event.payload, event.action.keys, event.subject),
    receivers: event.receivers,
    deliveries,
    suppressed,
  };
}

/** Handles an event that was routed before: returns a record, or a rejection if its guid came with another body. */
export function repeatEvent(
  { event }: Arrival,
  { isSame, at }: { isSame: boolean; at: number },
): Outgoing[] | Rejection {
  if (!isSame) {
    return reject(
      'guid_reused',
      'an event of this action with this guid, but with another body, was routed before: use a new guid',
    );
  }
  const outcome = routed(event, { at, deliveries: [], suppressed: [{ reason: 'duplicate' }] });
  return [{ kind: 'outcome', outcome }];
}

/**
 * Reads an event; rejects one that breaks the contract. Omits an invalid trace: requests with it would fail, and switch receivers
 * off.
 */
export function readArrival(limits: EventLimits, onRead: (event: Event) => void = () => undefined): Parse<Arrival> {
  return (message) => {
    const reading = readEvent(message, limits);
    if (reading.kind === 'invalid') return refuseEvent(message, reading);
    onRead(reading.event);
    const { traceparent } = message;
    const arrival: Arrival = {
      event: reading.event,
      bytes: unpackedBytes(message, limits.maxBytes),
      keptFor: (accounts) => keptEvent(message, limits, accounts),
    };
    if (isTraceparent(traceparent)) arrival.traceparent = traceparent;
    return arrival;
  };
}

/** Decodes a message that was read as an event, so its encoding is known. */
function keptEvent(message: Message, { maxBytes }: EventLimits, accounts: readonly string[]): KeptEvent {
  const decoded = decodeBody(message, maxBytes);
  const kept: KeptEvent = { accounts, body: decoded.kind === 'bytes' ? decoded.bytes : message.body };
  if (message.contentType !== undefined) kept.contentType = message.contentType;
  return kept;
}

/** A current, active subscription: one per API client of an account. */
export type ActiveSubscription = {
  guid: string;
  client: string;
  generation: number;
  /** Null if none was given: the plain form. */
  auditFieldSet: readonly string[] | null;
  isFeatureOn: boolean;
};

/** The subscriptions of each account that receives an event, in their order; undefined for one that Waybell does not know. */
type FoundSubscriptions = readonly (readonly ActiveSubscription[] | undefined)[];

/**
 * Finds the subscriptions to many events, in their order, by one query; equal accounts and actions are asked for once. Queries
 * Postgres every time, so that a subscribe counts for the next event. Throws `Unavailable`.
 */
export type FindSubscriptions = (
  events: readonly { action: Action; receivers: readonly string[] }[],
) => Promise<readonly FoundSubscriptions[]>;

/** `place`: index of the account among those queried, from 1. */
type FoundSubscriptionRow = { place: number } & ({ guid: null } | ActiveSubscription);

const SUBSCRIPTIONS = {
  name: 'subscription-targets',
  // At least one row for each known account.
  text: `select place::int, subscription_guid as guid, client_id as client, generation,
                audit_field_set as "auditFieldSet", feature_on as "isFeatureOn"
         from unnest($1::text[], $2::text[], $3::uuid[]) with ordinality wanted(interface, action, account_guid, place)
         join waybell.known_accounts using (account_guid)
         left join waybell.subscription_targets using (interface, action, account_guid)`,
};

export function findSubscriptionsIn(postgres: Postgres): FindSubscriptions {
  return async (events) => {
    const wanted = new Wanted();
    // Places of each account of each event, in order.
    const places: number[] = [];
    for (const { action, receivers } of events)
      for (const account of receivers) places.push(wanted.add(action, account));
    const ask = () => postgres.query<FoundSubscriptionRow>({ ...SUBSCRIPTIONS, values: wanted.columns() });
    const { rows } = await whenAvailable(postgres, ask);
    const found: (ActiveSubscription[] | undefined)[] = [];
    for (const row of rows) {
      const of = found[row.place - 1];
      if (of === undefined) found[row.place - 1] = row.guid === null ? [] : [row];
      else if (row.guid !== null) of.push(row);
    }
    let next = 0;
    return events.map(({ receivers }) => receivers.map(() => found[places[next++] ?? -1]));
  };
}

/** The accounts and actions that are queried, each pair once. */
class Wanted {
  readonly #places = new Map<string, number>();
  readonly #interfaces: string[] = [];
  readonly #names: string[] = [];
  readonly #accounts: string[] = [];

  /** Returns the place of the pair, from 0. */
  add(action: Action, account: string): number {
    const pair = `${actionKey(action)} ${account}`;
    const known = this.#places.get(pair);
    if (known !== undefined) return known;
    this.#places.set(pair, this.#accounts.length);
    this.#interfaces.push(action.interface);
    this.#names.push(action.name);
    return this.#accounts.push(account) - 1;
  }

  /** Writes Postgres arrays: names and guids need no quotes, and the driver would search each for characters to escape. */
  columns(): string[] {
    return [`{${this.#interfaces.join(',')}}`, `{${this.#names.join(',')}}`, `{${this.#accounts.join(',')}}`];
  }
}
