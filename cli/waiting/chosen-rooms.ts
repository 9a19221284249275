import type { Queryable } from '@waybell/runtime/postgres';

/** The selected rooms. */
export type WaitingSelection = { kind: 'all' } | { kind: 'account' | 'subscription'; guid: string };

/** `room`: 32 hexadecimal digits. `called`: what people call it. */
export type ChosenRoom = { room: string; called: string };

const ROOMS = `
  select encode(uuid_send(r.room), 'hex') as room, coalesce(r.name, current.url, r.room::text) as called
  from waybell.rooms r left join lateral (
    select split_part(s.callback_url, '?', 1) as url from waybell.subscriptions s
    where s.account_guid = r.account and r.room in (waybell.room_of(s.account_guid, s.callback_url), s.guid) limit 1
  ) current on true
  where r.service = $1 and ($2::uuid is null or r.account = $2) and ($3::uuid is null or exists (
    select from waybell.waiting w where w.service = r.service and w.room = r.room and w.subscription = $3))
  order by r.room`;

/** Returns the selected rooms of a service that have rows. */
export async function chosenRooms(
  postgres: Queryable,
  { service, choice }: { service: string; choice: WaitingSelection },
): Promise<ChosenRoom[]> {
  const account = choice.kind === 'account' ? choice.guid : null;
  const subscription = choice.kind === 'subscription' ? choice.guid : null;
  return (await postgres.query<ChosenRoom>(ROOMS, [service, account, subscription])).rows;
}
