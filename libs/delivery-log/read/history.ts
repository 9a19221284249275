import { isGuid } from '@waybell/events/timestamp';
import type { Suppression } from '@waybell/line/outcomes';
import {
  closerRemedy,
  isOwnFault,
  meaningOf,
  noSubscriptionCauses,
  unattempted,
  type ReasonKind,
} from '@waybell/line/reasons';
import type { Queryable } from '@waybell/runtime/postgres';
import type { ListenerOption } from '../listener-client.ts';
import type { AttemptRow } from '../tables.ts';
import { attemptsOf, type AttemptDetail } from './attempts.ts';
import type { Page, PageRequest } from './cursor.ts';
import {
  deactivationsBy,
  deliveriesByGuid,
  deliveriesOf,
  withoutListeners,
  waitingOf,
  type AskedDelivery,
  type DeliveryRow,
  type WaitingNow,
} from './deliveries.ts';
import type { AttemptEntry, DeliveryEntry, EventEntry, EventVerdict, Reader, Why, WithoutNulls } from './entries.ts';
import { eventByGuid, eventsAbout, recordOf, rejectionsOf, type AskedKey, type EventRow } from './events.ts';
import { whyNoSubscription } from './no-subscription.ts';

/**
 * Returns everything about an order, a vehicle, an offer …, or the event of that guid, newest first: deliveries, suppressions,
 * and their reasons. Only operators get receivers' answers here: a client sees them with each delivery.
 */
export async function timelineOf(
  postgres: Queryable,
  { about, reader, withListeners, ...paging }: { about: AskedKey; reader: Reader } & ListenerOption & PageRequest,
): Promise<Page<EventEntry>> {
  const { entries: events, ...page } = await eventsAbout(postgres, { about, reader, ...paging });
  const isNone = events.length === 0 && paging.before === undefined && page.next === undefined;
  if (isNone && about.kind === undefined && isGuid(about.key)) {
    const entries = await eventHistory(postgres, about.key, reader, { withListeners });
    return { entries: entries.slice(0, paging.limit) };
  }
  return { entries: await entriesOf(postgres, events.flat(), reader, { withListeners }), ...page };
}

/** Returns the history of one event: an entry for each time that it was routed. */
export async function eventHistory(
  postgres: Queryable,
  event: string,
  reader: Reader,
  listeners: ListenerOption = {},
): Promise<EventEntry[]> {
  return entriesOf(postgres, await eventByGuid(postgres, event, reader), reader, listeners);
}

/** Returns one delivery with its attempts; undefined if there is none, or if it is not the reader's. */
export async function deliveryHistory(
  postgres: Queryable,
  asked: AskedDelivery,
  reader: Reader,
): Promise<DeliveryEntry | undefined> {
  const rows = await deliveriesByGuid(postgres, asked, reader);
  const [entry] = await withAttempts(postgres, rows, { withAnswers: true });
  return entry;
}

/** Adds attempts to these deliveries, in the same order. */
export async function withAttempts(
  postgres: Queryable,
  rows: readonly DeliveryRow[],
  detail: AttemptDetail = { withAnswers: false },
): Promise<DeliveryEntry[]> {
  const attempts = Map.groupBy(await attemptsOf(postgres, rows, detail), ({ delivery }) => delivery);
  const givenUp = rows.filter(({ delivery }) => attempts.get(delivery)?.some(isGivenUp));
  const deactivations = new Map(
    (await deactivationsBy(postgres, givenUp)).map(({ delivery, at, rule }) => [delivery, { at, rule }]),
  );
  const rejections = await rejectionsOf(
    postgres,
    rows.filter(({ delivery }) => !attempts.get(delivery)?.some(isEnd)),
  );
  const waiting = await waitingOf(
    postgres,
    rows.filter(({ delivery }) => !attempts.get(delivery)?.some(({ kind }) => kind === 'delivered')),
  );
  const whyRejected = new Map(rejections.map(({ delivery, reason }) => [delivery, why('rejected', reason)]));
  return rows.map((row) =>
    deliveryEntry(row, {
      attempts: attempts.get(row.delivery) ?? [],
      deactivation: deactivations.get(row.delivery),
      rejection: whyRejected.get(row.delivery),
      waiting: waiting.get(row.delivery),
    }),
  );
}

async function entriesOf(
  postgres: Queryable,
  all: readonly EventRow[],
  reader: Reader,
  { withListeners = false }: ListenerOption,
): Promise<EventEntry[]> {
  // A rejected delivery is listed with its event.
  const listed = all.filter(({ rejectedDelivery }) => rejectedDelivery === null);
  const rows = reader === 'operator' && !withListeners ? await withoutListeners(postgres, listed) : listed;
  const made = await deliveriesOf(postgres, rows, reader);
  const attempted = await withAttempts(postgres, made, { withAnswers: reader === 'operator' });
  const ofRecord = Map.groupBy(attempted, recordOf);
  const entries = [...Map.groupBy(rows, recordOf)].map(([record, ofOne]) =>
    eventEntry(ofOne, ofRecord.get(record) ?? [], reader),
  );
  await explainNoSubscription(postgres, entries);
  return entries;
}

/** Explains, for each account that got nothing because it had no subscription, why it had none. */
export async function explainNoSubscription(postgres: Queryable, entries: readonly EventEntry[]): Promise<void> {
  const unsent = entries.flatMap(({ action, at, verdicts }) =>
    verdicts.flatMap((verdict) => {
      const isOne = verdict.kind === 'suppressed' && verdict.reason === 'no_subscription';
      const { account, client } = isOne ? verdict : {};
      return isOne && account !== undefined ? [{ verdict, account, client, action, at }] : [];
    }),
  );
  const causes = await whyNoSubscription(postgres, unsent);
  for (const [place, { verdict }] of unsent.entries()) {
    const noSubscription = causes[place];
    if (noSubscription === undefined) continue;
    Object.assign(verdict, { noSubscription, ...noSubscriptionCauses[noSubscription.cause] });
  }
}

/** Makes a reader's entry of a record from its rows, with the deliveries of it for that reader. */
export function eventEntry(rows: readonly EventRow[], deliveries: DeliveryEntry[], reader: Reader): EventEntry {
  const [first] = rows;
  if (first === undefined) throw new TypeError('an event without a row');
  const { event, interface: interfaceName, action, at, keys } = first;
  const verdicts: EventVerdict[] = deliveries.map((delivery) => ({ kind: 'delivery', delivery }));
  for (const suppression of suppressionsIn(rows, reader))
    verdicts.push({
      kind: 'suppressed',
      ...suppression,
      ...clientOf(reader),
      ...why('suppressed', suppression.reason),
    });
  if (first.rejectedReason !== null) verdicts.push(rejectedVerdict(first, first.rejectedReason, reader));
  // Another client of the account is subscribed, so the record does not mention this one.
  if (verdicts.length === 0 && reader !== 'operator')
    verdicts.push({ kind: 'suppressed', ...clientOf(reader), ...why('suppressed', 'no_subscription') });
  const receivers = rows.flatMap(({ account }) => account ?? []);
  return { event, interface: interfaceName, action, at, keys, receivers, verdicts };
}

/** Returns the suppressions that concern the reader. A suppression of the whole event is in each of its rows. */
function suppressionsIn(rows: readonly EventRow[], reader: Reader): Suppression[] {
  return rows.flatMap(({ account, subscriptions, suppressed, rejectedReason }, place) => {
    const none = account !== null && subscriptions === null && suppressed === null && rejectedReason === null;
    const all: readonly Suppression[] = none ? [{ reason: 'no_subscription', account }] : (suppressed ?? []);
    return all.filter((each) => (each.account !== undefined || place === 0) && concerns(each, reader));
  });
}

/** Clients see only their own entries. */
function clientOf(reader: Reader): { account: string; client: string } | undefined {
  return reader === 'operator' ? undefined : { account: reader.account, client: reader.client };
}

function rejectedVerdict({ rejectedDetail, rejectedDelivery }: EventRow, reason: string, reader: Reader): EventVerdict {
  // Faults of Waybell itself are not the client's business, and their text may quote anything.
  const isShown = reader === 'operator' || !isOwnFault(reason);
  return {
    kind: 'rejected',
    ...why('rejected', reason),
    detail: (isShown ? rejectedDetail : null) ?? '',
    ...(rejectedDelivery !== null && { delivery: rejectedDelivery }),
  };
}

function concerns({ account, client }: Suppression, reader: Reader): boolean {
  if (reader === 'operator') return true;
  return (account ?? reader.account) === reader.account && (client ?? reader.client) === reader.client;
}

type DeliveryParts = {
  attempts: AttemptRow[];
  deactivation: DeliveryEntry['deactivation'];
  rejection: Why | undefined;
  waiting: WaitingNow | undefined;
};

function deliveryEntry(row: DeliveryRow, { attempts, deactivation, rejection, waiting }: DeliveryParts): DeliveryEntry {
  const entries = attempts.map(attemptEntry);
  const last = endOf(entries);
  const { delivery, event, interface: interfaceName, action, keys, at, subscription, account, client } = row;
  const entry = {
    delivery,
    event,
    interface: interfaceName,
    action,
    keys,
    at,
    subscription,
    account,
    client,
    attempts: entries,
    ...(deactivation !== undefined && { deactivation }),
    ...(waiting !== undefined && { waiting }),
  };
  if (rejection !== undefined) return { ...entry, status: 'rejected', why: rejection };
  if (last === undefined) return { ...entry, status: 'waiting' };
  const reason = last.why === undefined || last.kind === 'delivered' ? {} : { why: last.why };
  if (last.kind !== 'failed') return { ...entry, status: last.kind, ...reason };
  return {
    ...entry,
    status: 'retrying',
    ...reason,
    ...(last.retryAt !== undefined && { nextAttemptAt: last.retryAt }),
  };
}

/** Returns the attempt that determines the state. A delivered delivery stays delivered, however often it is sent afterwards. */
function endOf(attempts: readonly AttemptEntry[]): AttemptEntry | undefined {
  return attempts.find(({ kind }) => kind === 'delivered') ?? attempts.at(-1);
}

/** Whether there was a request, unlike an end without one. */
export function isMade({ kind, why: reason }: AttemptEntry): boolean {
  return kind !== 'dropped' && !unattempted.includes(reason?.reason ?? '');
}

const isEnd = ({ kind }: AttemptRow): boolean => kind !== 'failed';

const isGivenUp = ({ kind }: Pick<AttemptRow, 'kind'>): boolean => kind === 'exhausted';

/** Makes an entry of an attempt's row, with the meaning of its reason. */
export function attemptEntry(row: AttemptRow): AttemptEntry {
  const { attempt, at, kind, subscription, reason, delivery: _, event: __, ...known } = row;
  const reasoned = { why: reason === null ? null : why(kind === 'dropped' ? 'dropped' : 'failed', reason, row) };
  return { attempt, at, kind, subscription, ...withoutNulls({ ...known, ...reasoned }) };
}

function withoutNulls<T extends object>(object: T): WithoutNulls<T> {
  // The remaining members are not null, which `fromEntries` does not type.
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value != null)) as WithoutNulls<T>;
}

function why<R extends string>(kind: ReasonKind, reason: R, attempt?: AttemptRow): { reason: R } & Why {
  const meaning = meaningOf(kind, reason);
  const remedy = attempt === undefined ? undefined : closerRemedy(attempt);
  return { reason, ...meaning, ...(remedy && { remedy }) };
}
