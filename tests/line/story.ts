import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { readOutcomes } from '@waybell/line/outcome-batch';
import { isAttempted, type Attempted, type Rejected, type Routed } from '@waybell/line/outcomes';
import { endsExchange, outcomesExchange } from '@waybell/line/topology';
import { anEvent, type PublishedEvent } from '../testing/event.ts';
import type { SideEffect } from '@waybell/line/testing/memory-link';
import { MemoryLine, type LineOptions, type Response } from './memory-line.ts';

const ACTIONS = [
  { interface: 'carrier', action: 'order.created' },
  { interface: 'carrier', action: 'order.delivered' },
  { interface: 'shipper', action: 'order.paid' },
  { interface: 'shipper', action: 'order.picked_up_bol' },
] as const;
const ACCOUNTS = [randomUUID(), randomUUID()] as const;
export const LINKS = { online_bol_url: 'https://example.com/1', pdf_bol_url: 'https://example.com/1.pdf' };

const where = fc.record({ action: fc.constantFrom(...ACTIONS), account: fc.constantFrom(...ACCOUNTS) });
/** How a receiver answers its 1st, 2nd, … attempt: the same whenever it is asked again. */
const answers = fc.array(
  fc.record({ status: fc.constantFrom(200, 204, 302, 404, 500, 'none' as const), afterMs: fc.nat({ max: 5_000 }) }),
  { minLength: 1, maxLength: 6 },
);
const twist = fc.constantFrom('none', 'none', 'again', 'guid reused', 'links missing', 'not an event');

/** `deathsAfter`: how often processes hand over, remember or acknowledge before one of them dies at that, each time; `refusals`:
 * whether the broker refuses a publish. */
export const story = fc.record({
  subscriptions: fc.array(fc.record({ where, answers, isFeatureOn: fc.boolean() }), { maxLength: 5 }),
  events: fc.array(fc.record({ where, twist, pauseMs: fc.constantFrom(0, 0, 700, 90_000) }), {
    minLength: 1,
    maxLength: 6,
  }),
  deathsAfter: fc.array(fc.nat({ max: 30 }), { maxLength: 5 }),
  refusals: fc.array(fc.boolean(), { maxLength: 10 }),
  outages: fc.array(fc.boolean(), { maxLength: 10 }),
  order: fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 20 }),
  slots: fc.constantFrom(1, 3, 1_024),
  window: fc.constantFrom(1, 64),
});
type Story = typeof story extends fc.Arbitrary<infer S> ? S : never;

/** Possible crashes: none, only outside of handing over and remembering, or anywhere. */
export type Mortality = 'none' | 'none forgets' | 'any';

export type Told = { event: PublishedEvent; twist: Story['events'][number]['twist'] };
export type Happened = {
  line: MemoryLine;
  routed: Routed[];
  rejected: Rejected[];
  attempted: Attempted[];
  events: Told[];
  answersOf: Map<string, (attempt: number) => Response>;
  slots: number;
};

/** Lets a story happen. Resolves with the line at its end and with what it was made of. */
export async function happen(told: Story, mortality: Mortality): Promise<Happened> {
  const { subscriptions, order, slots, window } = told;
  const [outages, refusals] = [[...told.outages], [...told.refusals]];
  let turn = 0;
  const line = new MemoryLine({
    settings: { DELIVER_SLOTS: String(slots), DELIVER_WINDOW: String(window) },
    diesAt: mortality === 'none' ? () => false : dying(told.deathsAfter, mortality),
    refuses: () => (refusals.shift() === true ? 'refused' : undefined),
    isAway: () => outages.shift() === true,
    pick: () => order[turn++ % order.length] ?? 0,
  });
  const answersOf = new Map<string, (attempt: number) => Response>();
  for (const [place, { where: to, answers: given, isFeatureOn }] of subscriptions.entries()) {
    const row = line.subscriptions.add({
      ...to.action,
      account: to.account,
      isFeatureOn,
      client: `client ${place}`,
      generation: place + 1,
    });
    const answerTo = (attempt: number) => given[(attempt - 1) % given.length] ?? { status: 200 };
    answersOf.set(row.guid, answerTo);
    line.receivers.set(row.guid, ({ attempt }) => answerTo(attempt));
  }
  const events = told.events.map((each): Told => ({ event: eventOf(each), twist: each.twist }));
  for (const [place, { event, twist: how }] of events.entries()) {
    if (how === 'not an event') line.publishBytes(`${event.interface}.${event.action}`, Buffer.from('{'));
    else line.publish(event);
    if (how === 'again') line.publish(event);
    if (how === 'guid reused') line.publish({ ...event, occurred_at: '2026-11-20T09:30:01Z' });
    await line.runFor(told.events[place]?.pauseMs ?? 0);
  }
  await line.run();
  const { outcomes } = line;
  const routed = outcomes.filter((outcome) => outcome.kind === 'routed');
  const rejected = outcomes.filter((outcome) => outcome.kind === 'rejected');
  return { line, routed, rejected, attempted: outcomes.filter(isAttempted), events, answersOf, slots };
}

/** The other account is a party to it too, and gets nothing: the interface says which party it is for. */
function eventOf({ where: { action, account }, twist: how }: Story['events'][number]): PublishedEvent {
  const hasLinks = action.action === 'order.picked_up_bol' && how !== 'links missing';
  const other = ACCOUNTS.find((each) => each !== account) ?? account;
  return anEvent({
    ...action,
    parties: { shipper: other, broker: other, carrier: other, [action.interface]: account },
    ...(action.interface === 'shipper' && { payload: { ...(hasLinks && LINKS), order_guid: randomUUID() } }),
  });
}

/** A batch that was in hand at three crashes is taken apart, a message at five set aside: a process dies twice at most. */
const MOST_CRASHES = 2;

function dying(deathsAfter: readonly number[], mortality: Mortality): NonNullable<LineOptions['diesAt']> {
  const plan = [...deathsAfter];
  const crashes = new Map<string, number>();
  const handedOver = new Set<string>();
  return (effect, service) => {
    // An acknowledged message must be remembered.
    if (effect.what === 'acknowledge') for (const { messageId = '' } of effect.messages) handedOver.delete(messageId);
    const [next = Infinity] = plan;
    const died = crashes.get(service) ?? 0;
    const mayDie = died < MOST_CRASHES && (mortality === 'any' || handedOver.size === 0);
    if (next <= 0 && mayDie) {
      plan.shift();
      crashes.set(service, died + 1);
      return true;
    }
    plan[0] = next - 1;
    if (service === 'deliverer') note(effect, handedOver);
    return false;
  };
}

/** Keeps the guids of deliveries of which something is handed over, and that are not remembered yet. */
function note(effect: SideEffect, handedOver: Set<string>): void {
  if (effect.what === 'remember') for (const guid of handedOver) if (effect.key.includes(guid)) handedOver.delete(guid);
  if (effect.what !== 'publish') return;
  const { exchange, body, messageId = '' } = effect.publication;
  if (exchange === endsExchange) return;
  const outcomes = exchange === outcomesExchange ? readOutcomes(body).filter(isAttempted) : [];
  for (const guid of exchange === outcomesExchange ? outcomes.map(({ delivery }) => delivery) : [messageId]) {
    handedOver.add(guid);
  }
}
