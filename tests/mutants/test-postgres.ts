import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { closeServer, listen } from '@waybell/runtime/health';
import { startServers } from '@waybell/stack/servers';

const run = promisify(execFile);

/** A Postgres for suites that need one, whose databases have the tables that a checkout's migrations make. */
export class TestPostgres implements AsyncDisposable {
  readonly #url: string;
  readonly #stack: AsyncDisposableStack;
  #made = 0;

  private constructor(url: string, stack: AsyncDisposableStack) {
    this.#url = url;
    this.#stack = stack;
  }

  static async start(): Promise<TestPostgres> {
    await using stack = new AsyncDisposableStack();
    const home = await mkdtemp(join(tmpdir(), 'waybell-mutants-servers-'));
    stack.defer(() => rm(home, { recursive: true, force: true, maxRetries: 10 }));
    // Postgres runs as another user under root, and must get to its files.
    await chmod(home, 0o711);
    const servers = await startServers({ home, only: ['postgres'] });
    stack.defer(() => servers.stop());
    return new TestPostgres(servers.url('postgres'), stack.move());
  }

  /** What tests of that checkout, as it is now, are to have in their environment. */
  async environmentOf(checkout: string): Promise<NodeJS.ProcessEnv> {
    this.#made += 1;
    const name = `mutants_${this.#made}`;
    const client = new pg.Client({ connectionString: this.#url });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    const template = Object.assign(new URL(this.#url), { pathname: `/${name}` }).href;
    const env = { ...process.env, DATABASE_URL: template };
    await run(process.execPath, [join(checkout, 'cli', 'main.ts'), 'migrate'], { cwd: checkout, env });
    const lender = createServer((_, response) => response.end(JSON.stringify({ url: template })));
    const { port } = await listen(lender, { host: '127.0.0.1', port: 0 });
    this.#stack.defer(() => closeServer(lender));
    return { ...process.env, TEST_DATABASE_URL: this.#url, TEST_SERVERS: `http://127.0.0.1:${port}` };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
