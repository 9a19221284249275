import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { until } from '@waybell/runtime/testing/until';
import { freePort } from '@waybell/stack/ports';
import { startServers } from '@waybell/stack/servers';
import { requireProgram, SupervisedProcess, type ProcessSpec } from '@waybell/stack/supervised-process';
import { stopAll } from './left-behind.ts';

/** Two Postgres, of which one is the other's synchronous standby: what one commits, both have. */
export class PostgresPair implements AsyncDisposable {
  /** The address for services: both hosts. */
  readonly url: string;
  readonly #home: string;
  #primary: SupervisedProcess;
  #standby: SupervisedProcess;

  private constructor(home: string, primary: SupervisedProcess, standby: SupervisedProcess) {
    this.#home = home;
    this.#primary = primary;
    this.#standby = standby;
    const [first, second] = [primary, standby].map(({ spec }) => new URL(spec.address));
    this.url = `${primary.spec.address.replace(`${first?.host}`, `${first?.host},${second?.host}`)}?target_session_attrs=read-write`;
  }

  /** Resolves when both take part. */
  static async start(): Promise<PostgresPair> {
    const home = await mkdtemp(join(tmpdir(), 'waybell-pair-'));
    const primary = (await startServers({ home, only: ['postgres'], isThrowaway: true })).process('postgres');
    requireProgram(primary.spec);
    const port = await freePort({ taken: new Set() });
    const standby = new SupervisedProcess(besides(primary.spec, port), { restart: 'never', onEvent: () => undefined });
    const pair = new PostgresPair(home, primary, standby);
    try {
      await pair.#follow();
      return pair;
    } catch (error) {
      await pair[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The one that takes writes. */
  get primary(): SupervisedProcess {
    return this.#primary;
  }

  /** Behaves like a demotion that leaves connections open: their next answer reports it. */
  async makeReadOnly(): Promise<void> {
    await set(this.#primary, 'default_transaction_read_only', 'on');
  }

  /** Waits until nobody is connected to the one that was primary any more. */
  async untilLeft(): Promise<void> {
    const others = "select from pg_stat_activity where datname = 'waybell' and pid <> pg_backend_pid()";
    await until('all have left the old primary', async () => {
      const left = await ask(this.#standby, others);
      if (left > 0) throw new Error(`${left} have not`);
      return true;
    });
  }

  /** Has the standby take writes. It waits for no other then. */
  async promote(): Promise<void> {
    const [demoted, promoted] = [this.#primary, this.#standby];
    await ask(promoted, 'select pg_promote()');
    [this.#primary, this.#standby] = [promoted, demoted];
  }

  /** Makes the former primary a standby of the other. */
  async rejoin(): Promise<void> {
    await this.#standby.stop();
    await this.#follow();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return stopAll([this.#standby, this.#primary], this.#home);
  }

  async #follow(): Promise<void> {
    const { command, args, env, cwd, user } = this.#standby.spec;
    const data = dataOf(args);
    await rm(data, { recursive: true, force: true });
    const how = ['--pgdata', data, '--dbname', this.#primary.spec.address, '--write-recovery-conf'];
    await promisify(execFile)(join(dirname(command), 'pg_basebackup'), [...how, '--checkpoint=fast', '--no-sync'], {
      env,
      cwd,
      ...user,
    });
    await this.#standby.start();
    await set(this.#primary, 'synchronous_standby_names', '*');
    const isSynchronous = `select from pg_stat_replication where sync_state = 'sync'`;
    await until('the standby is synchronous', async () => (await ask(this.#primary, isSynchronous)) > 0);
  }
}

const dataOf = (args: readonly string[]): string => args[args.indexOf('-D') + 1] ?? '';

/** The same server, beside it. */
function besides({ args, address, logFile, ...spec }: ProcessSpec, port: number): ProcessSpec {
  const [data, ownPort] = [dataOf(args), new URL(address).port];
  const url = Object.assign(new URL(address), { port: String(port) }).href;
  return {
    ...spec,
    name: 'postgres-2',
    args: args.map((arg) => (arg === data ? `${data}-2` : arg.replace(`port=${ownPort}`, `port=${port}`))),
    address: url,
    logFile: `${logFile}-2`,
    waitsFor: async () => ask({ spec: { address: url } }, 'select').then(() => undefined, String),
  };
}

async function set(server: SupervisedProcess, name: string, value: string): Promise<void> {
  await ask(server, `alter system set ${name} = '${value}'`);
  await ask(server, 'select pg_reload_conf()');
}

/** Resolves with the number of rows. */
async function ask({ spec }: { spec: Pick<ProcessSpec, 'address'> }, sql: string): Promise<number> {
  const client = new pg.Client({ connectionString: spec.address });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}
