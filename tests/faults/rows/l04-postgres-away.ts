import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { killServer } from '../break-server.ts';
import type { Fault } from '../fault.ts';
import { shippedDatabaseTimeout } from '../fault-settings.ts';
import type { Stage } from '../stage.ts';
import { underLoad, type Inject } from '../under-load.ts';

const AWAY_MS = { short: 5_000, release: 30_000 };
const LOCKED_MS = { short: 8_000, release: 60_000 };
const ENDING_CONNECTIONS_MS = { short: 2_000, release: 10_000 };

const faults: Record<string, Inject> = {
  async 'Postgres stopped for a while'(stage) {
    const postgres = stage.stack.stack.servers.process('postgres');
    await postgres.stop();
    const problems = await apiSaysSo(stage);
    await sleep(AWAY_MS[stage.scale]);
    await postgres.start();
    return problems;
  },
  'Postgres killed': (stage) => killServer(stage, 'postgres'),
  async 'Postgres read-only, as after a failover'({ stack, scale }) {
    const readOnly = async (is: 'on' | 'off') => {
      await stack.postgres.query(`alter system set default_transaction_read_only = ${is}`);
      await stack.postgres.query('select pg_reload_conf()');
    };
    await readOnly('on');
    await sleep(AWAY_MS[scale]);
    await readOnly('off');
  },
  async 'connections to Postgres ended again and again'({ stack, scale }) {
    for (const endsAt = Date.now() + ENDING_CONNECTIONS_MS[scale]; Date.now() < endsAt; await sleep(200)) {
      await stack.postgres
        .query(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
        )
        // Its own pool has a second connection, which may be this very one's turn to end.
        .catch(() => undefined);
    }
  },
  async 'a lock on the subscriptions held'({ stack, scale }) {
    const client = await stack.postgres.connect();
    await client.query('begin');
    await client.query('lock table waybell.subscriptions in access exclusive mode');
    await sleep(LOCKED_MS[scale]);
    await client.query('rollback');
    client.release();
  },
};

export const postgresAway: Fault[] = [
  ...Object.entries(faults).map(([name, inject]) => ({
    row: 'L4' as const,
    name,
    settings: shippedDatabaseTimeout,
    bars: { duplicates: 0, movingAgainSeconds: 75, megabytes: 300 },
    run: underLoad(inject),
  })),
  {
    row: 'L4',
    name: 'the disk of Postgres full',
    // Its table lies on a disk of its own from then on.
    settings: { ...shippedDatabaseTimeout, DEACTIVATION_SWEEP_INTERVAL: '501ms' },
    bars: { duplicates: 0, movingAgainSeconds: 75 },
    run: underLoad(fullDisk),
  },
];

/** Puts the subscriptions on a small disk, fills it, and makes room again. Needs the right to mount. */
async function fullDisk({ stack, scale }: Stage): Promise<void> {
  const disk = join(stack.home, 'small-disk');
  await mkdir(disk);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=16m,mode=0777', 'tmpfs', disk]);
  try {
    const folder = join(disk, 'tables');
    await mkdir(folder, { mode: 0o700 });
    await run('chown', ['postgres', folder]);
    await stack.postgres.query(`create tablespace small location '${folder}'`);
    await stack.postgres.query('alter table waybell.subscriptions set tablespace small');
    const filler = join(disk, 'filler');
    // Writing stops at the end of the disk.
    await writeFile(filler, Buffer.alloc(16 * 2 ** 20)).catch(() => undefined);
    await sleep(AWAY_MS[scale]);
    await writeFile(filler, '');
    await stack.postgres.query('alter table waybell.subscriptions set tablespace pg_default');
    await stack.postgres.query('drop tablespace small');
  } finally {
    await run('umount', ['--lazy', disk]);
  }
}

async function run(command: string, args: string[]): Promise<void> {
  await promisify(execFile)(command, args);
}

/** The API answers 503 and when to come again; it does not hang, and it does not invent. */
async function apiSaysSo({ stack }: Stage): Promise<string[]> {
  const client = await fetch(`${stack.stack.addresses['API_URL']}/v1/webhooks/`, {
    headers: { authorization: 'Bearer of-nobody' },
  });
  const isRight = client.status === 503 && client.headers.has('retry-after');
  return isRight ? [] : [`without Postgres the API answered ${client.status}`];
}
