import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { serve } from '../lib/part.ts';

/** Postgres' own way to load a table: rows that are ready, in one COPY. */
export type CopierCommands = typeof commands;

type CopiedRows = { table: string; file: string };

const PIECE_BYTES = 2 ** 20;

let client: pg.Client | undefined;

const commands = {
  async connect(url: string): Promise<void> {
    client = new pg.Client({ connectionString: url });
    await client.connect();
  },

  /** Keeps the table's rows in a file. */
  async dump({ table, file }: CopiedRows): Promise<void> {
    const rows = connected().query(copyTo(`copy (table ${table}) to stdout`));
    await pipeline(rows, createWriteStream(file));
  },

  /** Copies them back; resolves with the milliseconds that took. */
  async copy({ table, file }: CopiedRows): Promise<number> {
    const beganAt = performance.now();
    const rows = createReadStream(file, { highWaterMark: PIECE_BYTES });
    await pipeline(rows, connected().query(copyFrom(`copy ${table} from stdin`)));
    return performance.now() - beganAt;
  },
};

function connected(): pg.Client {
  if (client === undefined) throw new Error('not connected');
  return client;
}

serve(commands);
