import { randomUUID } from 'node:crypto';
import { messageGuid } from '@waybell/notifications/notification';
import { LogMetrics } from '../write/log-metrics.ts';
import { DAY_MS, partitionsIn, type Partitions } from '../write/partitions.ts';
import { writeOutcomesTo, type WriteOutcomes } from '../write/write-outcomes.ts';
import type { Delivery } from '@waybell/line/delivery';
import type { Attempted, Delivered, Dropped, Exhausted, Failed, Routed } from '@waybell/line/outcomes';
import { aDelivery, putDelivery, subscribeTo } from '@waybell/line/waiting-room/testing/waiting-deliveries';
import { createMetrics } from '@waybell/runtime/metrics';
import { subscribe } from '@waybell/runtime/testing/subscribe';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { connectPostgres, type Postgres, type Queryable } from '@waybell/runtime/postgres';
import { createTestDatabase, type TestDatabase } from '@waybell/runtime/testing/database';
import { PATIENT_MS, silentLog } from '@waybell/runtime/testing/patience';

export const START = Date.parse('2026-11-20T09:30:00Z');
export { DAY_MS };

/** A limit long enough for all that tests make it wait for: most are not about it. */

/** The log's parts on a Postgres, without a broker and with a clock of its own. */
export class LogStand implements AsyncDisposable {
  now = START;
  readonly store: TestDatabase;
  readonly partitions: Partitions;
  readonly write: WriteOutcomes;
  readonly postgres: Postgres;

  protected constructor(store: TestDatabase) {
    this.store = store;
    this.postgres = connectAsLog(store, PATIENT_MS);
    this.partitions = partitionsIn(this.postgres, { days: 30, bodyDays: 7, now: () => this.now });
    this.write = this.#writer(this.postgres, PATIENT_MS);
  }

  static async start(): Promise<LogStand> {
    return new LogStand(await createTestDatabase());
  }

  /** On the database of a caller that disposes of it. */
  static on(store: TestDatabase): LogStand {
    return new LogStand({ ...store, [Symbol.asyncDispose]: async () => undefined });
  }

  /** Writes as `write` does, but has so long for a statement. */
  async withTimeout<T>(timeoutMs: number, work: (write: WriteOutcomes) => Promise<T>): Promise<T> {
    // Not for a connection: that a busy machine is slow to make one is no matter of what is written.
    await using postgres = connectAsLog(this.store, PATIENT_MS);
    postgres.on('connect', (client) => void client.query(`set statement_timeout = ${timeoutMs}`));
    return await work(this.#writer(postgres, timeoutMs));
  }

  #writer(postgres: Postgres, timeoutMs: number): WriteOutcomes {
    const figures = new LogMetrics(createMetrics('test'));
    return writeOutcomesTo(postgres, { partitions: this.partitions, figures, timeoutMs });
  }

  async rows<R extends object>(text: string, values: unknown[] = []): Promise<R[]> {
    return (await this.store.postgres.query<R>(text, values)).rows;
  }

  /** Writes an event about a subject, the one delivery that it caused, and these attempts at that. */
  async log(attempts: readonly Attempted[], given: Partial<Logging> = {}): Promise<Logged> {
    const logging = { ...aLogged(), ...given };
    const { at, interface: interfaceName, event, subject, subscription, account } = logging;
    const delivery = messageGuid(event, subscription);
    const routed = aRouted({
      event,
      at,
      interface: interfaceName,
      keys: [{ kind: 'order_guid', key: subject }],
      receivers: [account],
      deliveries: [{ subscription, account }],
    });
    await this.own(logging, routed.action);
    await this.write([routed, ...attempts.map((attempt) => ({ ...attempt, event, delivery, subscription }))]);
    return { ...logging, delivery };
  }

  /** The same, but now: a delivery without an attempt is found by its guid alone only for a day, by the clock of Postgres. */
  async logLately(attempts: readonly Attempted[], given: Partial<Logging> = {}): Promise<Logged> {
    const { now } = this;
    this.now = wallClockMs();
    try {
      return await this.log(attempts, { at: this.now, ...given });
    } finally {
      this.now = now;
    }
  }

  /** Writes a delivery with these attempts, which waits. */
  async logWaiting(attempts: readonly Attempted[] = []): Promise<Logged & { waiting: Delivery }> {
    const account = randomUUID();
    const subscription = await subscribeTo(this.store.postgres, 'https://a.test/hook', account);
    const logged = await this.log(attempts, { account, subscription });
    const waiting = aDelivery({ guid: logged.delivery, subscription, attempt: attempts.length + 1 });
    await putDelivery(this.store.postgres, waiting);
    return { ...logged, waiting };
  }

  /** Makes sure that there is this subscription, which says whose its deliveries are. */
  async own(of: Pick<Logging, 'interface' | 'subscription' | 'account' | 'client'>, action: string): Promise<void> {
    const { interface: side, subscription: guid, account, client } = of;
    await subscribe(this.store.postgres, { guid, interface: side, account, client, action, isEnded: true });
  }

  /** A subscription of the account's default client, which is never called; resolves with its guid. */
  subscribe(account: string, action: string): Promise<string> {
    return subscribe(this.store.postgres, { account, action });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.postgres.end();
    await this.store[Symbol.asyncDispose]();
  }
}

/** A carrier's account; resolves with its guid. */
export async function aCarrier(postgres: Queryable, name: string | null = null): Promise<string> {
  const guid = randomUUID();
  await postgres.query(`insert into waybell.accounts (guid, interface, name) values ($1, 'carrier', $2)`, [guid, name]);
  return guid;
}

function connectAsLog({ url }: TestDatabase, timeoutMs: number): Postgres {
  return connectPostgres({ url, role: 'waybell_log', poolSize: 5, timeoutMs, log: silentLog });
}

type Logging = Pick<Routed, 'at' | 'interface'> &
  Record<'event' | 'subject' | 'subscription' | 'account' | 'client', string>;
type Logged = Logging & { delivery: string };

const aLogged = (): Logging => ({
  at: START,
  interface: 'carrier',
  event: randomUUID(),
  subject: randomUUID(),
  subscription: randomUUID(),
  account: randomUUID(),
  client: 'default',
});

const facts = () => ({
  event: randomUUID(),
  interface: 'carrier' as const,
  action: 'order.created',
  at: START,
});

const attempted = () => ({
  ...facts(),
  delivery: randomUUID(),
  subscription: randomUUID(),
  generation: 3,
  attempt: 1,
  beganAt: START,
  answer: { durationMs: 12, status: 200 },
});

export const aRouted = (what: Partial<Routed> = {}): Routed => ({
  ...facts(),
  kind: 'routed',
  keys: [],
  receivers: [],
  deliveries: [],
  suppressed: [],
  ...what,
});

export const aDelivered = (what: Partial<Delivered> = {}): Delivered => ({
  ...attempted(),
  kind: 'delivered',
  ...what,
});

export const aFailed = (what: Partial<Failed> = {}): Failed => ({
  ...attempted(),
  kind: 'failed',
  answer: { durationMs: 12, status: 503, reason: 'http_5xx' },
  retryAt: START + 1_000,
  ...what,
});

export const anExhausted = (what: Partial<Exhausted> = {}): Exhausted => ({
  ...attempted(),
  kind: 'exhausted',
  answer: { durationMs: 3_000, reason: 'response_timeout' },
  body: '{}',
  ...what,
});

export const aDropped = (what: Partial<Dropped> = {}): Dropped => {
  const { answer: _, beganAt: __, ...rest } = attempted();
  return { ...rest, kind: 'dropped', reason: 'unsubscribed', body: '{}', ...what };
};
