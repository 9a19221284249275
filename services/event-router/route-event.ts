import { reject, type Fate, type Handler, type Message, type Outgoing, type Parse } from '@waybell/line/messages';
import type { Event } from '@waybell/events/event';
import { decodeBody, unpackedBytes } from '@waybell/events/decode-body';
import { readEvent, type EventLimits } from '@waybell/events/read-event';
import { refuseEvent } from '@waybell/rejected/reject-event';
import { Budget } from '@waybell/runtime/budget';
import { isTraceparent } from '@waybell/runtime/traceparent';
import type { KeptEvent } from '@waybell/line/outcomes';
import { DELIVERY_OVERHEAD_BYTES, FanOut, PART, routed, type Routing } from './fan-out.ts';
import type { FindSubscriptions, FoundSubscriptions } from './find-subscriptions.ts';

/** An event as it arrived, its size, and its trace. */
export type Arrival = Pick<Routing, 'event' | 'keptFor' | 'traceparent'> & { bytes: number };

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

export type RouteEventOptions = {
  findSubscriptions: FindSubscriptions;
  now: () => number;
};

/** Memory for deliveries under way at once, over all events that cause many or large ones. */
const BUDGET_BYTES = 8 * PART.bytes;
/** An event whose deliveries need less takes nothing from the budget. */
const SMALL_BYTES = 2 ** 16;

/**
 * Routes events: each causes a delivery for each subscription of each receiving account, and a record of its fate. Many or large
 * deliveries are caused in parts, by only a few events at a time.
 */
export function routeEvents({ findSubscriptions, now }: RouteEventOptions): Handler<Arrival> {
  const budget = new Budget(BUDGET_BYTES);

  function route(arrival: Arrival, found: FoundSubscriptions, taken: number): Fate {
    const parts = new FanOut(arrival, found, now());
    if (taken === 0) return { kind: 'done', caused: atOnce(parts) };
    return { kind: 'done', caused: { next: () => parts.next(), end: () => budget.giveBack(taken) } };
  }

  /** Waits for budget. Keeps nothing meanwhile: what was found may take as much memory as the deliveries, so it is found again. */
  async function routeLater(arrival: Arrival, needed: number): Promise<Fate> {
    let taken = 0;
    try {
      for (let wanted = needed; ;) {
        await budget.take(wanted);
        taken = wanted;
        const [found = []] = await findSubscriptions([arrival.event]);
        wanted = weigh(arrival, found);
        if (wanted <= taken) return route(arrival, found, taken);
        budget.giveBack(taken);
        taken = 0;
      }
    } catch (error) {
      budget.giveBack(taken);
      return { kind: 'failed', error };
    }
  }

  return async (arrivals) => {
    const all = await findSubscriptions(arrivals.map(({ event }) => event));
    return (place, end) => {
      const arrival = arrivals[place];
      const found = all[place];
      if (arrival === undefined || found === undefined) throw new Error('there is an answer for each event');
      const needed = weigh(arrival, found);
      if (needed === 0 || budget.takeNow(needed)) end(route(arrival, found, needed));
      else void routeLater(arrival, needed).then(end);
    };
  };
}

function atOnce(parts: FanOut): Outgoing[] {
  const all = parts.next() ?? [];
  for (let part = parts.next(); part !== undefined; part = parts.next()) all.push(...part);
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
  const outcome = routed(event, { at, deliveries: [], suppressed: [{ reason: 'duplicate' }] });
  return [{ kind: 'outcome', outcome }];
}
