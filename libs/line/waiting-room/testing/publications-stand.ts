import { randomUUID } from 'node:crypto';
import type { Broker } from '../../broker.ts';
import { waitingIn, WAITING_SETTINGS } from '../postgres-waiting-store.ts';
import { aPublication } from './some-broker.ts';
import { WaitingMetrics } from '../waiting-metrics.ts';
import { WaitingPublications } from '../waiting-publications.ts';
import { createMetrics } from '@waybell/runtime/metrics';
import { connectPostgres, type Postgres } from '@waybell/runtime/postgres';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { createTestDatabase, type TestDatabase } from '@waybell/runtime/testing/database';
import { PATIENT_MS, silentLog as log } from '@waybell/runtime/testing/patience';

/** The start of every process's clock, in milliseconds since the epoch. */
const START = Date.UTC(2026, 0);

/** A database with the routers' waiting room, and connections to it as processes have them. */
export class PublicationsStand implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly #opened: Postgres[] = [];

  private constructor(database: TestDatabase) {
    this.database = database;
  }

  static async start(): Promise<PublicationsStand> {
    return new PublicationsStand(await createTestDatabase());
  }

  /** A process that has publications wait: its broker, and its time. Nobody ends it. */
  process(broker: Pick<Broker, 'publish' | 'state' | 'onState'>) {
    const [{ url }, role, settings] = [this.database, 'waybell_router', WAITING_SETTINGS];
    const postgres = connectPostgres({ url, role, poolSize: 2, settings, timeoutMs: PATIENT_MS, log });
    this.#opened.push(postgres);
    const store = waitingIn(postgres, { service: 'router', process: randomUUID() });
    const clock = new TurnedClock(START);
    const metrics = new WaitingMetrics(createMetrics('test'));
    const how = { store, broker, mostBytes: 2 ** 30, metrics, log, clock, now: clock.now };
    const publications = new WaitingPublications(how);
    const putAll = (key: string, bodies: readonly string[]) =>
      Promise.all(bodies.map((body) => publications.put(aPublication(key, body))));
    return { publications, putAll, clock };
  }

  /** Queries as the owner of the tables. */
  async sql<Row extends object>(text: string): Promise<Row[]> {
    return (await this.database.postgres.query<Row>(text)).rows;
  }

  async count(): Promise<number> {
    const [row] = await this.sql<{ rows: number }>('select count(*)::int as rows from waybell.router_waiting');
    return row?.rows ?? 0;
  }

  /** Makes all claims, shut rooms and postponed rows older by this time. */
  async later(seconds: number): Promise<void> {
    await this.sql(`update waybell.router_rooms set look_at = look_at - interval '${seconds} s'`);
    await this.sql(`update waybell.router_waiting set due_at = due_at - interval '${seconds} s'`);
  }

  async empty(): Promise<void> {
    await this.sql('truncate waybell.router_rooms, waybell.router_waiting, waybell.router_waiting_sums');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const postgres of this.#opened) await postgres.end();
    await this.database[Symbol.asyncDispose]();
  }
}
