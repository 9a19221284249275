/** Reads what happens to one client now: its attempts, and its events without a delivery. */
import type { Queryable } from '@waybell/runtime/postgres';
import type { AttemptEntry, ClientReader, EventEntry, SuppressedVerdict } from './entries.ts';
import { attemptEntry, eventEntry, explainNoSubscription, isOfReader } from './history.ts';
import {
  eventsOfDeliveries,
  latestAttempts,
  latestEvents,
  latestFirstAttempts,
  type AttemptFound,
  type EventFound,
  type LiveLook,
} from './live-rows.ts';
import { deliveriesOf, eventsAt } from './log-tables.ts';

/** Something that happened, at a time in milliseconds since the epoch. The same record always has the same key. */
export type LiveEntry = { key: string; at: number } & (
  | {
      kind: 'attempt';
      delivery: string;
      event: string;
      action: string;
      subscription: string;
      callbackUrl: string;
      attempt: AttemptEntry;
    }
  | { kind: 'suppressed'; event: EventEntry; verdict: SuppressedVerdict }
);

/** The entries of a key; none if its event was delivered. */
export type LookedUpKey = { key: string; at: number; entries: LiveEntry[] };

/** `unreadBefore`: one read did not cover everything, and entries before this time may be missing. */
export type LiveFound = { looked: LookedUpKey[]; unreadBefore?: number };

/**
 * Returns a client's latest entries, except those whose keys are known. Leaves an attempt whose delivery the log does not have
 * yet to a later read.
 */
export async function latestOf(
  postgres: Queryable,
  look: LiveLook,
  isKnown: (key: string) => boolean,
): Promise<LiveFound> {
  const attempts = [await latestFirstAttempts(postgres, look), ...(await latestAttempts(postgres, look))];
  const events = await latestEvents(postgres, look);
  const unread = [...attempts, events].flatMap(({ unreadBefore }) => unreadBefore ?? []);
  const newAttempts = attempts.flatMap(({ found }) => found).filter(({ attempt }) => !isKnown(keyOfAttempt(attempt)));
  const newEvents = events.found.filter((each) => !isKnown(keyOfEvent(each)));
  const looked = [
    ...(await attemptsLooked(postgres, newAttempts)),
    ...(await eventsLooked(postgres, newEvents, look.reader)),
  ];
  return { looked, ...(unread.length > 0 && { unreadBefore: Math.max(...unread) }) };
}

const keyOfAttempt = ({ delivery, at, attempt }: AttemptFound['attempt']) => `${delivery} ${at} ${attempt}`;

const keyOfEvent = ({ event, at }: EventFound) => `${event} ${at}`;

async function attemptsLooked(postgres: Queryable, found: readonly AttemptFound[]): Promise<LookedUpKey[]> {
  const lacking = found.filter(({ event }) => event === undefined).map(({ attempt }) => attempt);
  const events = await eventsOfDeliveries(postgres, lacking);
  return found.flatMap(({ action, callbackUrl, attempt, ...given }) => {
    const event = given.event ?? events.get(attempt.delivery);
    if (event === undefined) return [];
    const [key, { at, delivery, subscription }] = [keyOfAttempt(attempt), attempt];
    const told = { delivery, event, action, subscription, callbackUrl, attempt: attemptEntry(attempt) };
    return [{ key, at, entries: [{ kind: 'attempt' as const, key, at, ...told }] }];
  });
}

async function eventsLooked(
  postgres: Queryable,
  found: readonly EventFound[],
  reader: ClientReader,
): Promise<LookedUpKey[]> {
  const made = (await deliveriesOf(postgres, found, { withAnswers: false })).filter((row) => isOfReader(row, reader));
  const delivered = new Set(made.map(keyOfEvent));
  const rows = await eventsAt(
    postgres,
    found.filter((each) => !delivered.has(keyOfEvent(each))),
    reader,
  );
  const entries = rows.map((row) => eventEntry(row, [], reader));
  await explainNoSubscription(postgres, entries);
  const byKey = Map.groupBy(entries, keyOfEvent);
  return found.map((each) => {
    const key = keyOfEvent(each);
    return { key, at: each.at, entries: (byKey.get(key) ?? []).flatMap((event) => suppressionsIn(event, key)) };
  });
}

function suppressionsIn(event: EventEntry, key: string): LiveEntry[] {
  return event.verdicts.flatMap((verdict, place) =>
    verdict.kind === 'suppressed' ? [{ kind: 'suppressed', key: `${key} ${place}`, at: event.at, event, verdict }] : [],
  );
}
