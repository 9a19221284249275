/** Statements of `WaitingRooms` that move parked deliveries, under way or kept; each needs a transaction. */
const sumUp = (service: string): string => `
insert into waybell.${service}_waiting_sums as s (holder, name, rows, bytes)
select coalesce(r.account, r.room), r.name, count(*), sum(coalesce(octet_length(w.body), 0) + octet_length(w.properties))
from waybell.${service}_rooms r join waybell.${service}_waiting w using (room) group by 1, 2
on conflict (holder) do update set rows = excluded.rows, bytes = excluded.bytes`;

/** The properties with which the deliverer writes a delivery to the queue of its action. */
const PROPERTIES = `json_strip_nulls(json_build_object('kind', 'publish', 'exchange', 'waybell.deliveries', 'routingKey', o.action,
  'messageId', o.delivery, 'type', o.action, 'note', regexp_replace(o.note, ' hop \\d+', ''), 'contentType', 'application/json',
  'deliveries', true, 'headers', case when o.traceparent is not null then json_build_object('traceparent', o.traceparent) end))::text`;

export const MOVE_DELIVERIES = `
create temporary table moved on commit drop as
select waybell.room_of(s.account_guid, s.callback_url) as room, s.account_guid as account, o.created_at as made_at,
  o.delivery || ' ' || o.attempt as id, s.guid as subscription, o.parked_at as put_at, o.not_before as due_at, o.why,
  ${PROPERTIES} as properties, o.body
from waybell.parked o join waybell.subscriptions s on s.guid = o.subscription
union all
select waybell.room_of(s.account_guid, s.callback_url), s.account_guid, o.created_at, o.delivery || ' ' || o.attempt, s.guid, now(),
  o.due_at, 'open', ${PROPERTIES}, o.body
from waybell.open_requests o join waybell.subscriptions s on s.guid = split_part(o.note, ' ', 2)::uuid;
insert into waybell.deliverer_rooms (room, account) select distinct room, account from moved;
insert into waybell.deliverer_waiting (room, made_at, id, subscription, put_at, due_at, why, properties, body)
select room, made_at, id, subscription, put_at, due_at, why, properties, body from moved on conflict do nothing;
${sumUp('deliverer')}`;

export const movePublications = (service: string): string => `
create temporary table moved_${service} on commit drop as
select encode(substring(sha256(convert_to(d.exchange || ' ' || d.routing_key, 'UTF8')) for 16), 'hex')::uuid as room,
  d.exchange || ' ' || d.routing_key as name, round(extract(epoch from p.kept_at) * 1000)::bigint as made_at,
  gen_random_uuid()::text as id, p.kept_at as put_at, case when p.due_at > now() then p.due_at end as due_at, p.properties, p.body
from waybell.kept_publications p join waybell.kept_destinations d on d.id = p.destination
where d.kept_by = 'waybell_${service}';
insert into waybell.${service}_rooms (room, name) select distinct room, name from moved_${service};
insert into waybell.${service}_waiting (room, made_at, id, put_at, due_at, why, properties, body)
select room, made_at, id, put_at, due_at, 'broker', properties, body from moved_${service};
${sumUp(service)}`;
