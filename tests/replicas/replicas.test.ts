import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { deactivationsIn } from '@waybell/deactivator/deactivations';
import { noticesIn } from '@waybell/deactivator/notices';
import { switchOffIn } from '@waybell/deactivator/switch-off';
import { deliverersIn } from '@waybell/deliverer/flow/flow';
import { sendingsIn } from '@waybell/delivery-log-service/sendings';
import { waitingIn } from '@waybell/line/waiting-room/postgres-waiting-store';
import { deactivationsIn as vehicleDeactivationsIn } from '@waybell/location-tracker/sweep';
import type { Postgres } from '@waybell/runtime/postgres';
import { createAccount } from '@waybell/subscription-api/accounts';
import { PostgresStand } from '@waybell/line/waiting-room/testing/waiting-stand';
import { subscribe } from '@waybell/runtime/testing/subscribe';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => PostgresStand.start());
let account: string;
beforeAll(async () => {
  account = (await createAccount(stand.database.postgres, { interface: 'carrier' })).guid;
});

/** Something that replicas of a service do to rows of a table, each to others. */
type Work = {
  role: string;
  /** The table and its column that has a row's guid. */
  rows: [table: string, guid: string];
  /** Puts in the row of that guid, which is the later the later its number. */
  put: (guid: string, number: number) => Promise<unknown>;
  act: (postgres: Postgres) => Promise<unknown>;
  /** Whether it has been done to a row that is still there. */
  isDone: string;
};

const claimMs = 60_000;
const [SHIPPER, NOBODY] = [randomUUID(), randomUUID()];
const VEHICLES = ['waybell.tracked_vehicles', 'vehicle_guid'] as const;
const aVehicle = (isActive: boolean) => (guid: string, number: number) =>
  stand.sql('insert into waybell.tracked_vehicles values ($1, $2, $3, to_timestamp($4), $1)', [
    SHIPPER,
    guid,
    isActive,
    number,
  ]);
const onAnnounced = () => undefined;
const aSubscription = (guid: string) => subscribe(stand.database.postgres, { guid, account, action: guid });

const works: Record<string, Work> = {
  'what is sent by hand': {
    role: 'waybell_log',
    rows: ['delivery_log.sendings', 'guid'],
    put: (guid, number) =>
      stand.sql(
        `insert into delivery_log.sendings (guid, why, delivery, event, interface, action, account, client, subscription, generation,
           from_attempt, requested_by, due_at)
         values ($1, 'resend', $1, $1, 'carrier', 'order.created', $1, 'default', $1, 1, 2, 'a test', to_timestamp($2))`,
        [guid, number],
      ),
    act: (postgres) => sendingsIn(postgres, { claimMs }).claim(),
    isDone: 'claimed_until > now()',
  },
  'notices to publish': {
    role: 'waybell_deactivator',
    rows: ['waybell.notices', 'guid'],
    put: (guid, number) =>
      stand.sql(
        `insert into waybell.notices (guid, kind, interface, account, client, at)
         values ($1, 'endpoint.waiting', 'carrier', $1, 'default', to_timestamp($2))`,
        [guid, number],
      ),
    act: (postgres) => noticesIn(postgres, { claimMs }).claim(),
    isDone: 'claimed_until > now()',
  },
  'deactivations to record': {
    role: 'waybell_deactivator',
    rows: ['waybell.deactivations', 'subscription'],
    put: (guid, number) =>
      stand.sql(
        `insert into waybell.deactivations (subscription, generation, account, client, interface, action, rule, at)
         values ($1, 1, $1, 'default', 'carrier', 'order.created', 'window', to_timestamp($2))`,
        [guid, number],
      ),
    act: (postgres) => deactivationsIn(postgres, { claimMs, onPublished: () => undefined }).claim(),
    isDone: 'claimed_until > now()',
  },
  'subscriptions to switch off': {
    role: 'waybell_deactivator',
    rows: ['waybell.subscriptions', 'guid'],
    put: async (guid) => {
      await aSubscription(guid);
      await stand.sql(
        `insert into waybell.due_deactivations (subscription, generation, rule, delivery, ended_at, due_at)
         values ($1, 1, 'exhausted', $1, now(), now())`,
        [guid],
      );
    },
    act: (postgres) =>
      switchOffIn(postgres, {
        offOnExhausted: ['carrier'],
        offOnWindow: [],
        windowMs: 1,
        surge: { many: 0, few: 0 },
      })(),
    isDone: 'not is_active',
  },
  'failures to tell together': {
    role: 'waybell_deactivator',
    rows: ['waybell.exhausted_deliveries', 'subscription'],
    put: (guid) =>
      stand.sql(
        `insert into waybell.exhausted_deliveries (subscription, told_at, count, told, since, at, delivery)
         values ($1, now() - interval '1 day', 2, 1, now(), now(), $1)`,
        [guid],
      ),
    act: (postgres) => postgres.query("select waybell.tell_exhausted('1 hour')"),
    isDone: 'count = 0',
  },
  'certificates that end': {
    role: 'waybell_deactivator',
    rows: ['waybell.credentials', 'guid'],
    put: (guid, number) =>
      stand.sql(
        `insert into waybell.credentials (guid, account_guid, client_id, host, kinds, shown, sealed, key_id, certificate_ends_at)
         values ($1::uuid, $2, 'default', $1::text, '{certificate}', '{}', '\\x00', 'k', to_timestamp($3))`,
        [guid, account, number],
      ),
    act: (postgres) => postgres.query("select waybell.tell_ending_certificates('30 days')"),
    isDone: 'ending_told is not null',
  },
  'vehicles that fell silent': {
    role: 'waybell_tracker',
    rows: [...VEHICLES],
    put: aVehicle(true),
    async act(postgres) {
      const { candidates, switchOff } = vehicleDeactivationsIn(postgres, { claimMs, onAnnounced });
      const silent = await candidates(1_000_000);
      await switchOff(
        silent.map((each) => ({ ...each, seenAt: each.notedAt })),
        1_000_000,
      );
    },
    isDone: 'not is_active',
  },
  'silent vehicles to announce': {
    role: 'waybell_tracker',
    rows: ['waybell.gps_deactivations', 'guid'],
    put: (guid) => stand.sql("insert into waybell.gps_deactivations values ($1, $1, '{}', now(), now())", [guid]),
    act: (postgres) => vehicleDeactivationsIn(postgres, { claimMs, onAnnounced }).claim(),
    isDone: 'claimed_until > now()',
  },
  'vehicles to forget': {
    role: 'waybell_tracker',
    rows: [...VEHICLES],
    put: aVehicle(false),
    act: (postgres) => vehicleDeactivationsIn(postgres, { claimMs, onAnnounced }).forget(1_000_000),
    isDone: 'false',
  },
  'deliverers that are gone': {
    role: 'waybell_deliverer',
    rows: ['waybell.deliverers', 'id'],
    put: (guid, number) =>
      stand.sql("insert into waybell.deliverers values ($1, to_timestamp($2), '{}')", [guid, number]),
    act: (postgres) => deliverersIn(postgres, { id: NOBODY, actions: ['a'] }).live(),
    isDone: 'false',
  },
  'rooms of what is held no more': {
    role: 'waybell_deliverer',
    rows: ['waybell.deliverer_rooms', 'room'],
    put: async (guid) => {
      await aSubscription(guid);
      await stand.sql(
        "insert into waybell.deliverer_rooms (room, account, look_at) values ($1, $2, now() + interval '1 hour')",
        [guid, account],
      );
    },
    act: (postgres) => waitingIn(postgres, { process: NOBODY }).lookAfterHeld(),
    isDone: 'changes > 0',
  },
};

describe('a replica', () => {
  test.each(Object.entries(works))('does to %s what it can beside another, and waits for no lock', async (_, work) => {
    const { role, put, act, isDone } = work;
    const [table, column] = work.rows;
    const [held, free] = [randomUUID(), randomUUID()];
    await put(held, 1);
    await put(free, 2);
    const other = await stand.database.postgres.connect();
    await using postgres = stand.connect(1, role, { lock_timeout: '1ms' });
    const left = () =>
      stand.sql(`select ${column} as guid from ${table} where ${column} in ($1, $2) and (${isDone}) is not true`, [
        held,
        free,
      ]);
    try {
      await other.query('begin');
      await other.query(`select from ${table} where ${column} = $1 for update`, [held]);
      await act(postgres);
      expect(await left()).toEqual([{ guid: held }]);
    } finally {
      await other.query('rollback');
      other.release();
    }
    await act(postgres);
    expect(await left()).toEqual([]);
  });
});
