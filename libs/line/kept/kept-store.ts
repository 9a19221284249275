import { isOutage, sqlStateOf, whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import { withDelayElapsed, type Publication } from '../messages.ts';

/** Key of a kept publication; numbers as Postgres writes them. */
export type KeptKey = { destination: string; id: string };
export type KeptPublication = KeptKey & { publication: Publication };

/** A destination with kept publications. `oldestMs`: age of the oldest. */
export type KeptDestination = {
  destination: string;
  exchange: string;
  routingKey: string;
  publications: number;
  bytes: number;
  oldestMs: number;
};

/** Asks for the oldest publications of a destination, at most `most`. */
export type WantedKept = { destination: string; most: number };

/** Stores the kept publications of all processes of a service. Every method rejects with `Unavailable` while Postgres is away. */
export type KeptStore = {
  /** Resolves when all are committed, with their delay elapsed where they had one. After a rejection they may be committed too. */
  insert(publications: readonly Publication[]): Promise<void>;
  look(): Promise<KeptDestination[]>;
  /**
   * Claims due publications, oldest first; no process can claim them again for `forMs`. Stops at `bytes` of bodies, which only the
   * last one may exceed.
   */
  claim(wanted: readonly WantedKept[], how: { bytes: number; forMs: number }): Promise<KeptPublication[]>;
  /** Makes them due again in `forMs`; 0 for at once. */
  putOff(keys: readonly KeptKey[], forMs: number): Promise<void>;
  /** Removes them; missing ones are no error. */
  remove(keys: readonly KeptKey[]): Promise<void>;
};

/**
 * Session settings of its connections. Commits are synchronous, because the message that caused a publication is acknowledged after
 * the commit. Only index scans: Postgres' statistics may still say that the table is empty.
 */
export const KEPT_SETTINGS = {
  synchronous_commit: 'on',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

const INSERT = {
  name: 'keep-publications',
  text: 'select waybell.keep_publications($1::text[], $2::text[], $3::text[], $4::bytea[], $5::float8[])',
};

const LOOK = {
  name: 'count-kept-publications',
  text: `
    select destination, exchange, routing_key as "routingKey", publications::float8, bytes::float8,
      coalesce(extract(epoch from oldest) * 1000, 0)::float8 as "oldestMs"
    from waybell.count_kept_publications()`,
};

const AFTER = 'make_interval(secs => $3::float8 / 1000)';

const CLAIM = {
  name: 'claim-kept-publications',
  text: `
    select destination, id, properties, body from waybell.claim_kept_publications(
      $1::bigint[], $2::int[], $4::bigint, ${AFTER}) order by id`,
};

const PUT_OFF = {
  name: 'put-off-kept-publications',
  text: `select waybell.put_off_kept_publications($1::bigint[], $2::bigint[], ${AFTER})`,
};

const REMOVE = {
  name: 'remove-kept-publications',
  text: 'select waybell.remove_kept_publications($1::bigint[], $2::bigint[])',
};

type KeptRow = KeptKey & { properties: string; body: Buffer };

/** Stores them in Postgres. The connections must be opened with `KEPT_SETTINGS`. */
export function keptIn(postgres: Postgres): KeptStore {
  const ask = <R extends object>(statement: { name: string; text: string }, values: unknown[] = []) =>
    whenAvailable(postgres, async () => (await postgres.query<R>({ ...statement, values })).rows, isAway);
  return {
    async insert(publications) {
      const all = publications.map(withDelayElapsed);
      await ask(INSERT, [
        all.map(({ publication }) => publication.exchange),
        all.map(({ publication }) => publication.routingKey),
        all.map(({ publication }) => writeProperties(publication)),
        all.map(({ publication }) => publication.body),
        all.map(({ afterMs }) => afterMs),
      ]);
    },
    look: () => ask<KeptDestination>(LOOK),
    async claim(wanted, { bytes, forMs }) {
      const [destinations, limits] = [wanted.map(({ destination }) => destination), wanted.map(({ most }) => most)];
      const rows = await ask<KeptRow>(CLAIM, [destinations, limits, forMs, bytes]);
      return rows.map(({ destination, id, properties, body }) => {
        return { destination, id, publication: { ...readProperties(properties), body } };
      });
    },
    async putOff(keys, forMs) {
      if (keys.length > 0) await ask(PUT_OFF, [...columnsOf(keys), forMs]);
    },
    async remove(keys) {
      if (keys.length > 0) await ask(REMOVE, columnsOf(keys));
    },
  };
}

/** A missing or forbidden function (class 42) counts as an outage: a migration will fix it. */
function isAway(error: unknown): boolean {
  return isOutage(error) || sqlStateOf(error)?.startsWith('42') === true;
}

function columnsOf(keys: readonly KeptKey[]): [string[], string[]] {
  return [keys.map(({ destination }) => destination), keys.map(({ id }) => id)];
}

/** Writes all but the body as JSON, which can escape NUL; Postgres' text cannot hold it. */
export function writeProperties(publication: Publication): string {
  return JSON.stringify({ ...publication, body: undefined });
}

export function readProperties(written: string): Omit<Publication, 'body'> {
  // Only `writeProperties` writes this. Members that a later version added are ignored.
  return JSON.parse(written) as Omit<Publication, 'body'>;
}
