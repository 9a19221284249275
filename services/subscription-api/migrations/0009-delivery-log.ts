import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ensureRole } from './0002-grants.ts';

const OWNER = 'waybell_log';

/**
 * What delivery-log writes down, in a schema that its own role owns: it creates the partitions of coming days, and drops
 * those of days that are over. A row lies in the day of its record, whatever it is about, so that the same record is
 * the same row however often it comes.
 */
export class DeliveryLog implements MigrationInterface {
  readonly name = 'DeliveryLog1795219200009';

  async up(database: QueryRunner): Promise<void> {
    await database.query(ensureRole(OWNER));
    await database.query('create schema delivery_log');
    // First of all: who gives a table away, and is no superuser, may give it only to one that may create in its schema.
    await database.query(`alter schema delivery_log owner to ${OWNER}`);
    for (const table of [EVENTS, SUBJECTS, DELIVERIES, ATTEMPTS, BODIES]) await database.query(table);
    for (const table of ['events', 'subjects', 'deliveries', 'attempts', 'bodies'])
      await database.query(`alter table delivery_log.${table} owner to ${OWNER}`);
    await database.query(ALL_ATTEMPTS);
    await database.query(`alter view delivery_log.all_attempts owner to ${OWNER}`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop schema delivery_log cascade');
  }
}

/** The router's verdict on an event, or that it was rejected. Suppressions: as in the record; null where there is none. */
const EVENTS = `
create table delivery_log.events (
  at timestamptz not null,
  event uuid not null,
  interface text not null,
  action text not null,
  receivers uuid[] not null,
  subjects uuid[] not null,
  suppressed jsonb,
  unknown_members int,
  rejected_reason text,
  rejected_detail text,
  rejected_delivery uuid,
  primary key (event, at, interface, action)
) partition by range (at)`;

/** Where an order, a vehicle or an offer is found. */
const SUBJECTS = `
create table delivery_log.subjects (
  subject uuid not null,
  at timestamptz not null,
  event uuid not null,
  primary key (subject, at, event)
) partition by range (at)`;

/** What a receiver answered. */
const ANSWER = `
  status smallint,
  duration_ms int,
  url text,
  ip text,
  dns_ms int,
  connect_ms int,
  tls_ms int,
  first_byte_ms int,
  answer text`;

/** The deliveries that events caused, and whose they are; with the first attempt of most of those that succeeded at it. */
const DELIVERIES = `
create table delivery_log.deliveries (
  at timestamptz not null,
  delivery uuid not null,
  event uuid not null,
  interface text not null,
  action text not null,
  subscription uuid not null,
  account uuid not null,
  client text not null,
  attempted_at timestamptz,
${ANSWER},
  primary key (delivery, at)
) partition by range (at);
create index deliveries_of_event on delivery_log.deliveries (event, at);
-- An account's are asked for by its subscriptions: each has one action, so that those of a rare one are found as quickly.
create index deliveries_of_subscription on delivery_log.deliveries (subscription, at)`;

/** Attempts, but for those in the rows of their deliveries, and the ends of deliveries that come without one. */
const ATTEMPTS = `
create table delivery_log.attempts (
  at timestamptz not null,
  delivery uuid not null,
  attempt int not null,
  kind text not null,
  subscription uuid not null,
  parked text,
  by_hand text,
  reason text,
  retry_at timestamptz,
${ANSWER},
  primary key (delivery, at, attempt)
) partition by range (at);
create index attempts_in_vain on delivery_log.attempts (subscription, at) where kind in ('exhausted', 'dropped')`;

/** What was sent, or was to be: kept for a shorter time, for it is what customers would rather see gone. */
const BODIES = `
create table delivery_log.bodies (
  at timestamptz not null,
  delivery uuid not null,
  body text not null,
  primary key (delivery, at)
) partition by range (at)`;

const ANSWERED = 'status, duration_ms, url, ip, dns_ms, connect_ms, tls_ms, first_byte_ms, answer';

/**
 * Every attempt once, wherever it lies: a record that came twice may lie in both tables, or in two rows of a delivery whose
 * event was routed twice. `filed_at`: the time of its row, within a minute of its own; a query that names a stretch of it is
 * spared a look into each day.
 */
const ALL_ATTEMPTS = `
create view delivery_log.all_attempts as
select at, at as filed_at, delivery, attempt, kind, subscription, parked, by_hand, reason, retry_at, ${ANSWERED}
from delivery_log.attempts a
where kind <> 'delivered' or attempt <> 1 or (
  select true from delivery_log.deliveries d where d.delivery = a.delivery and d.attempted_at = a.at
    and d.at > a.at - interval '1 minute' and d.at < a.at + interval '1 minute' limit 1) is null
union all
select attempted_at, at, delivery, 1, 'delivered', subscription, null, null, null, null, ${ANSWERED}
from delivery_log.deliveries d
where attempted_at is not null and (
  select true from delivery_log.deliveries e where e.delivery = d.delivery and e.attempted_at = d.attempted_at
    and e.at > d.attempted_at - interval '1 minute' and e.at < d.at limit 1) is null`;
