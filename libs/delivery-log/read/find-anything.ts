import { LONGEST_KEY, normalizedKey } from '@waybell/events/keys';
import { isGuid } from '@waybell/events/guid';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms } from '../columns.ts';
import { numberOfKey, readAction, readKey } from '../tables.ts';
import { deliveriesByGuid } from './deliveries.ts';
import { ofPlace } from './events.ts';
import { accountsBeginning, accountsNamed, findByPart, foundDelivery, subscriptionsBeginning } from './find-by-part.ts';
import type { FoundKey, MatchFilter, SearchMatch } from './search-match.ts';

/** Limit of the events counted for a key. */
export const MOST_COUNTED = 1_000;

/** Kind of a key that was found as a guid in a text: its real kind is unknown. */
const UNKNOWN_KIND = 'guid';

/** The latest events of a key, with all their keys. */
const OF_KEY = `
  select distinct k.event, ${ms('k.at')} as at, e.keys from (
    select event, at from delivery_log.keys where number = $1 order by at desc limit ${MOST_COUNTED}
  ) k cross join lateral (${ofPlace('k')}) e`;

/**
 * Finds every meaning of a guid, a number, a VIN, the subject of an event, or the name of an account, however it is spelled; if there is
 * none, of a part of them: see `findByPart`. `kind:key` names a key's kind.
 */
export async function findAnything(
  postgres: Queryable,
  text: string,
  { as, keyKind }: MatchFilter = {},
): Promise<SearchMatch[]> {
  const asked = normalizedKey(text);
  if (asked === '' || asked.length > LONGEST_KEY) return [];
  const isMeant = (found: SearchMatch) =>
    (as === undefined || found.kind === as) &&
    (keyKind === undefined || (found.kind === 'key' && found.keyKind === keyKind));
  const whole = (await findWhole(postgres, asked)).filter(isMeant);
  if (whole.length > 0 || as === 'key' || keyKind !== undefined) return whole;
  return (await findByPart(postgres, asked)).filter(isMeant);
}

async function findWhole(postgres: Queryable, asked: string): Promise<SearchMatch[]> {
  const keys = await keysNamed(postgres, asked);
  const named = isGuid(asked)
    ? await namedBy(postgres, asked, keys.length > 0)
    : await accountsNamed(postgres, asked, 'whole');
  if (named.length + keys.length > 0) return [...named, ...keys];
  const [, keyKind, key] = /^([a-z_]+):(.+)$/s.exec(asked) ?? [];
  if (keyKind === undefined || key === undefined) return [];
  return (await keysNamed(postgres, key.trim())).filter((each) => each.keyKind === keyKind);
}

/** `isKey`: the guid is a key, too. */
async function namedBy(postgres: Queryable, guid: string, isKey: boolean): Promise<SearchMatch[]> {
  const events = await eventsNamed(postgres, guid);
  const others = [...(await subscriptionsBeginning(postgres, guid)), ...(await accountsBeginning(postgres, guid))];
  const isAttempted = isKey || events.length + others.length > 0;
  const [delivery] = await deliveriesByGuid(postgres, { delivery: guid, isAttempted }, 'operator');
  return [...events, ...others, ...(delivery === undefined ? [] : [foundDelivery(delivery)])];
}

async function eventsNamed(postgres: Queryable, event: string): Promise<SearchMatch[]> {
  const { rows } = await postgres.query<{ action: string; at: number }>(
    `select action, ${ms('at')} as at from delivery_log.events
     where event = $1 and rejected_delivery is null order by at desc limit 1`,
    [event],
  );
  // An event's action names its interface.
  return rows.map(({ action, at }) => ({ kind: 'event', event, ...readAction(action), at }) as SearchMatch);
}

/** Returns each kind of a key, normalized, that the log has. */
export async function keysNamed(postgres: Queryable, key: string): Promise<FoundKey[]> {
  const { rows } = await postgres.query<{ at: number; keys: string[] }>(OF_KEY, [numberOfKey(key)]);
  const found = rows.flatMap(({ at, keys }) =>
    keys
      .map(readKey)
      .filter((each) => normalizedKey(each.key) === key)
      .map(({ kind }) => ({ kind, at })),
  );
  const kinds = [...Map.groupBy(found, ({ kind }) => kind)].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const known = kinds.filter(([kind]) => kind !== UNKNOWN_KIND);
  return (known.length > 0 ? known : kinds).map(([keyKind, of]) => ({
    kind: 'key',
    key,
    keyKind,
    events: of.length,
    at: Math.max(...of.map(({ at }) => at)),
  }));
}
