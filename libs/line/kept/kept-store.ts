import { isOutage, sqlStateOf, whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import { asKept, type Publication } from '../messages.ts';

/** The place of a kept publication; numbers as Postgres writes them. */
export type KeptKey = { destination: string; id: string };
export type KeptPublication = KeptKey & { publication: Publication };

/** Something is kept for it. `oldestMs`: for how long the first of it has been kept. */
export type KeptDestination = {
  destination: string;
  exchange: string;
  routingKey: string;
  publications: number;
  bytes: number;
  oldestMs: number;
};

/** What is wanted of a destination: the oldest, so many at most. */
export type WantedKept = { destination: string; most: number };

/** What the broker did not take, of this service, whichever process kept it. Everything rejects with `Unavailable` while Postgres is away. */
export type KeptStore = {
  /** Resolves when all of them are committed, as what they are once they were kept. After a rejection they may be, too. */
  insert(publications: readonly Publication[]): Promise<void>;
  look(): Promise<KeptDestination[]>;
  /**
   * Those of them that are due, the oldest first; no process is given them again for `forMs`. Never more than `bytes` of bodies but
   * by the last.
   */
  claim(wanted: readonly WantedKept[], how: { bytes: number; forMs: number }): Promise<KeptPublication[]>;
  /** They are due again after so long, 0 for at once. */
  putOff(keys: readonly KeptKey[], forMs: number): Promise<void>;
  /** Those that are gone already are no error. */
  remove(keys: readonly KeptKey[]): Promise<void>;
};

/**
 * What its connections are to be opened with. A publication must outlive a crash of Postgres before the message that caused
 * it is acknowledged. And each look goes by keys, also while Postgres has not counted how many rows a table holds that was empty
 * a minute ago.
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

/** Over connections that were opened with `KEPT_SETTINGS`. */
export function keptIn(postgres: Postgres): KeptStore {
  const ask = <R extends object>(statement: { name: string; text: string }, values: unknown[] = []) =>
    whenAvailable(postgres, async () => (await postgres.query<R>({ ...statement, values })).rows, isAway);
  return {
    async insert(publications) {
      const all = publications.map(asKept);
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

/** A function that is missing or may not be called (class 42) is no fault of what is kept: migrations will bring it. */
function isAway(error: unknown): boolean {
  return isOutage(error) || sqlStateOf(error)?.startsWith('42') === true;
}

function columnsOf(keys: readonly KeptKey[]): [string[], string[]] {
  return [keys.map(({ destination }) => destination), keys.map(({ id }) => id)];
}

/** All but the body: JSON has a form for every character, Postgres has none for NUL. */
export function writeProperties(publication: Publication): string {
  return JSON.stringify({ ...publication, body: undefined, mayBundle: undefined });
}

export function readProperties(written: string): Omit<Publication, 'body'> {
  // Written as above, where no other process writes; what a later version added is not looked at.
  return JSON.parse(written) as Omit<Publication, 'body'>;
}
