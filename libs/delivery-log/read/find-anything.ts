import { LONGEST_KEY, normalizedKey } from '@waybell/events/keys';
import { isGuid } from '@waybell/events/guid';
import type { InterfaceName } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms } from '../columns.ts';
import { numberOfKey, readAction, readKey } from '../tables.ts';
import { deliveriesByGuid } from './deliveries.ts';
import { ofPlace } from './events.ts';

/** One meaning of a searched text. */
export type SearchMatch =
  | { kind: 'event'; event: string; interface: InterfaceName; action: string; at: number }
  | { kind: 'delivery'; delivery: string; interface: InterfaceName; action: string; at: number }
  | { kind: 'subscription'; subscription: string; interface: InterfaceName; action: string; at: number }
  | { kind: 'account'; account: string; interface: InterfaceName; name: string | null; at: number }
  | FoundKey;

/** A key that events have. `events`: how many, counted up to MOST_COUNTED. */
export type FoundKey = { kind: 'key'; key: string; keyKind: string; events: number; at: number };

/** Limit of the events counted for a key. */
export const MOST_COUNTED = 1_000;

/** Kind of a key that was found as a guid in a text: its real kind is unknown. */
const UNKNOWN_KIND = 'guid';

const GUIDS = `
  select * from (
    select 'event' as kind, action, ${ms('at')} as at, null as name, null as interface from delivery_log.events
    where event = $1 and rejected_delivery is null order by at desc limit 1) e
  union all
    select 'subscription', action, ${ms('created_at')}, null, interface from waybell.subscriptions where guid = $1
  union all
    select 'account', null, ${ms('created_at')}, name, interface from waybell.accounts where guid = $1`;

/** The latest events of a key, with all their keys. */
const OF_KEY = `
  select distinct k.event, ${ms('k.at')} as at, e.keys from (
    select event, at from delivery_log.keys where number = $1 order by at desc limit ${MOST_COUNTED}
  ) k cross join lateral (${ofPlace('k')}) e`;

/**
 * Finds every meaning of a guid, a number, a VIN or the subject of an event, however it is spelled. `kind:key` names a key's
 * kind.
 */
export async function findAnything(postgres: Queryable, text: string): Promise<SearchMatch[]> {
  const asked = normalizedKey(text);
  if (asked === '' || asked.length > LONGEST_KEY) return [];
  const keys = await keysNamed(postgres, asked);
  const named = isGuid(asked) ? await namedBy(postgres, asked, keys.length > 0) : [];
  if (named.length + keys.length > 0) return [...named, ...keys];
  const [, keyKind, key] = /^([a-z_]+):(.+)$/s.exec(asked) ?? [];
  if (keyKind === undefined || key === undefined) return [];
  return (await keysNamed(postgres, key.trim())).filter((each) => each.keyKind === keyKind);
}

/** `isKey`: the guid is a key, too. */
async function namedBy(postgres: Queryable, guid: string, isKey: boolean): Promise<SearchMatch[]> {
  const { rows } = await postgres.query<Exclude<SearchMatch, FoundKey> & { action: string }>(GUIDS, [guid]);
  const asked = { delivery: guid, isAttempted: isKey || rows.length > 0 };
  const [delivery] = await deliveriesByGuid(postgres, asked, 'operator');
  // Each row has the searched guid, under the name of its kind; an event's action names its interface.
  const named = rows.map((row) => ({ ...row, ...(row.kind === 'event' && readAction(row.action)), [row.kind]: guid }));
  if (delivery === undefined) return named as SearchMatch[];
  const { interface: interfaceName, action, at } = delivery;
  return [...(named as SearchMatch[]), { kind: 'delivery', delivery: guid, interface: interfaceName, action, at }];
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
