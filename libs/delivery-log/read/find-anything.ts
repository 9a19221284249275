import { LONGEST_KEY, normalizedKey } from '@waybell/events/keys';
import { isGuid } from '@waybell/events/guid';
import type { InterfaceName } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms } from '../columns.ts';

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
    select 'event' as kind, interface, action, ${ms('at')} as at, null as name from delivery_log.events
    where event = $1 and rejected_delivery is null order by at desc limit 1) e
  union all select * from (
    select 'delivery', interface, action, ${ms('at')}, null from delivery_log.deliveries where delivery = $1 order by at limit 1) d
  union all
    select 'subscription', interface, action, ${ms('created_at')}, null from waybell.subscriptions where guid = $1
  union all
    select 'account', interface, null, ${ms('created_at')}, name from waybell.accounts where guid = $1`;

const KEYS = `
  with recursive kind as (
    (select kind from delivery_log.keys where key = $1 order by kind limit 1)
    union all
    select (select k.kind from delivery_log.keys k where k.key = $1 and k.kind > kind.kind order by k.kind limit 1)
    from kind where kind.kind is not null
  )
  select kind as "keyKind", counted.events::int, counted.at from kind
  cross join lateral (
    select count(*) as events, max(${ms('at')}) as at from (
      select at from delivery_log.keys k where k.key = $1 and k.kind = kind.kind limit ${MOST_COUNTED}) k
  ) counted
  where kind.kind is not null`;

/**
 * Finds every meaning of a guid, a number, a VIN or the subject of an event, however it is spelled. `kind:key` names a key's
 * kind.
 */
export async function findAnything(postgres: Queryable, text: string): Promise<SearchMatch[]> {
  const asked = normalizedKey(text);
  if (asked === '' || asked.length > LONGEST_KEY) return [];
  const named = isGuid(asked) ? await namedBy(postgres, asked) : [];
  const keys = await keysNamed(postgres, asked);
  if (named.length + keys.length > 0) return [...named, ...keys];
  const [, keyKind, key] = /^([a-z_]+):(.+)$/s.exec(asked) ?? [];
  if (keyKind === undefined || key === undefined) return [];
  return (await keysNamed(postgres, key.trim())).filter((each) => each.keyKind === keyKind);
}

async function namedBy(postgres: Queryable, guid: string): Promise<SearchMatch[]> {
  const { rows } = await postgres.query<Exclude<SearchMatch, FoundKey>>(GUIDS, [guid]);
  // Each row has the searched guid, under the name of its kind.
  return rows.map((row) => ({ ...row, [row.kind]: guid }));
}

async function keysNamed(postgres: Queryable, key: string): Promise<FoundKey[]> {
  const { rows } = await postgres.query<Omit<FoundKey, 'kind' | 'key'>>(KEYS, [key]);
  const known = rows.filter(({ keyKind }) => keyKind !== UNKNOWN_KIND);
  return (known.length > 0 ? known : rows).map((row) => ({ kind: 'key', key, ...row }));
}
