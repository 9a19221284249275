import { reject, type HandlerInParts, type Outgoing, type Message, type Parse } from '@waybell/line/messages';
import type { Event } from '@waybell/events/event';
import { decodeBody, unpackedBytes } from '@waybell/events/decode-body';
import { readEvent, type EventLimits } from '@waybell/events/read-event';
import { refuseEvent } from '@waybell/rejected/refuse-event';
import { Budget } from '@waybell/runtime/budget';
import { isTraceparent } from '@waybell/runtime/traceparent';
import {
  DELIVERY_OVERHEAD_BYTES,
  fanOut,
  PART,
  routed,
  type FoundSubscriptions,
  type PublishedEvent,
} from './fan-out.ts';
import type { FindSubscriptions } from './find-subscriptions.ts';

/** An event as it arrived, its size, and its trace. */
export type Arrival = { event: Event; bytes: number; published: () => PublishedEvent; traceparent?: string };

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
    const bytes = unpackedBytes(message, limits.maxBytes);
    const published = () => publishedAs(message, limits);
    return { event: reading.event, bytes, published, ...(isTraceparent(traceparent) && { traceparent }) };
  };
}

/** Decodes a message that was read as an event, so its encoding is known. */
function publishedAs(message: Message, { maxBytes }: EventLimits): PublishedEvent {
  const decoded = decodeBody(message, maxBytes);
  const { contentType } = message;
  const body = decoded.kind === 'bytes' ? decoded.bytes : message.body;
  return { body, ...(contentType !== undefined && { contentType }) };
}

export type RouteEventOptions = {
  findSubscriptions: FindSubscriptions;
  now: () => number;
};

/** Memory for deliveries under way at once, over all events that cause many or large ones. */
const BUDGET_BYTES = 8 * PART.bytes;
/** An event whose deliveries need less takes nothing from the budget. */
const SMALL_BYTES = 2 ** 16;

/**
 * Routes an event: returns a delivery for each subscription of each receiving account, and a record of the event's fate. Many or
 * large deliveries are returned in parts, by only a few events at a time.
 */
export function routeEvent({ findSubscriptions, now }: RouteEventOptions): HandlerInParts<Arrival> {
  const budget = new Budget(BUDGET_BYTES);

  /**
   * Finds the event's subscriptions. If its deliveries need more budget than is `taken` or free, returns the bytes needed and
   * keeps nothing.
   */
  async function find(arrival: Arrival, taken: number): Promise<LookupResult | number> {
    const { action, receivers } = arrival.event;
    try {
      const asked = receivers.map((account) => findSubscriptions(action, account));
      // An event usually has one account.
      const found = asked.length === 1 && asked[0] !== undefined ? [await asked[0]] : await Promise.all(asked);
      const needed = weigh(arrival, found);
      if (needed <= taken) return { found, taken };
      budget.giveBack(taken);
      return budget.takeNow(needed) ? { found, taken: needed } : needed;
    } catch (error) {
      budget.giveBack(taken);
      throw error;
    }
  }

  return async (arrival) => {
    const { event, traceparent } = arrival;
    let looked = await find(arrival, 0);
    while (typeof looked === 'number') {
      await budget.take(looked);
      looked = await find(arrival, looked);
    }
    const { found, taken } = looked;
    const published = arrival.published();
    const parts = fanOut({
      event,
      found,
      published,
      at: now(),
      ...(traceparent === undefined ? {} : { traceparent }),
    });
    if (taken === 0) return atOnce(parts);
    return { next: () => parts.next().value, end: () => budget.giveBack(taken) };
  };
}

type LookupResult = { found: FoundSubscriptions; taken: number };

function atOnce(parts: Generator<Outgoing[], undefined>): Outgoing[] {
  const all = parts.next().value ?? [];
  for (const part of parts) all.push(...part);
  return all;
}

/** Returns the budget that the deliveries need, in bytes: at most that of a part. */
function weigh({ bytes }: Arrival, found: FoundSubscriptions): number {
  let count = 0;
  for (const subscriptions of found) count += subscriptions?.length ?? 0;
  const all = count * (bytes + DELIVERY_OVERHEAD_BYTES);
  return all < SMALL_BYTES ? 0 : Math.min(all, PART.bytes);
}

/** Handles an event that was routed before: returns a record, or a rejection if its guid came with another body. */
export function repeatEvent({ event }: Arrival, { isSame, at }: { isSame: boolean; at: number }): Outgoing[] {
  if (!isSame) {
    return [
      reject(
        'guid_reused',
        'an event of this action with this guid, but with another body, was routed before: use a new guid',
      ),
    ];
  }
  return [routed(event, { at, deliveries: [], suppressed: [{ reason: 'duplicate' }] })];
}
