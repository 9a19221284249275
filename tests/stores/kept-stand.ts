import { KeptPublications } from '@waybell/line/kept/kept-publications';
import { KEPT_SETTINGS, keptIn, type KeptStore } from '@waybell/line/kept/kept-store';
import { SomeBroker } from '@waybell/line/kept/testing/some-broker';
import type { Log } from '@waybell/runtime/log';
import { connectPostgres, type Postgres } from '@waybell/runtime/postgres';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import {
  createTestDatabase,
  PATIENT_MS,
  silentLog,
  type TestDatabase,
} from '@waybell/subscription-api/testing/database';

/** A database with kept publications, and connections to it as services have them. */
export class KeptStand implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly #opened: Postgres[] = [];

  private constructor(database: TestDatabase) {
    this.database = database;
  }

  static async start(): Promise<KeptStand> {
    return new KeptStand(await createTestDatabase());
  }

  /** What a service with this role keeps; over connections of its own. */
  as(role: string, timeoutMs = PATIENT_MS): KeptStore {
    const url = this.database.url;
    const postgres = connectPostgres({ url, role, poolSize: 2, settings: KEPT_SETTINGS, timeoutMs, log: silentLog });
    this.#opened.push(postgres);
    return keptIn(postgres);
  }

  /** As the owner of the tables. */
  async sql<Row extends object>(text: string): Promise<Row[]> {
    return (await this.database.postgres.query<Row>(text)).rows;
  }

  async count(): Promise<number> {
    const [row] = await this.sql<{ rows: number }>('select count(*)::int as rows from waybell.kept_publications');
    return row?.rows ?? 0;
  }

  /** As if so long had passed for all that is claimed or was put off. */
  later(seconds: number): Promise<object[]> {
    return this.sql(`update waybell.kept_publications set due_at = due_at - interval '${seconds} seconds'`);
  }

  async empty(): Promise<void> {
    await this.sql('truncate waybell.kept_publications, waybell.kept_destinations');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const postgres of this.#opened) await postgres.end();
    await this.database[Symbol.asyncDispose]();
  }
}

/** A process of a service: what it keeps, its broker, and its time. */
export function aKeeper({ store, broker = new SomeBroker(), log = silentLog, mostBytes = 2 ** 30 }: Keeping) {
  const clock = new TurnedClock();
  return { kept: new KeptPublications({ store, broker, mostBytes, log, clock }), broker, clock };
}

type Keeping = { store: KeptStore; broker?: SomeBroker; log?: Log; mostBytes?: number };
