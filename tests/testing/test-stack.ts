import { withConstants } from '@waybell/runtime/gone-settings';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { postgresClient } from '@waybell/runtime/postgres';
import { explainFailure, onceMore } from '@waybell/stack/supervised-process';
import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import { startStack, type Stack, type StackOptions } from '@waybell/stack/stack';
import { createTestDatabase, type TestDatabase } from '@waybell/runtime/testing/database';
import { DEFAULT_SCOPES, hashToken, newToken } from '@waybell/subscription-api/tokens';
import { anEvent, type PublishedEvent } from './event.ts';
import { nothingLeftBehind } from './left-behind.ts';
import { plainEnvironment } from '@waybell/cli/testing/plain-environment';
import {
  borrowBreakable,
  borrowRedis,
  borrowVhost,
  controlShared,
  noteOfRun,
  type Breakable,
} from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { Upstream } from './upstream.ts';

/** An API client of one account, as an integrator has it: an address and a token. */
export type Client = {
  account: string;
  token: string;
  /** Calls the API; resolves with status and body as they came. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
  /** The signing secrets, the current one first; rotated before, if requested. */
  signingSecrets(how?: 'rotated'): Promise<string[]>;
  /** Subscribes and resolves with the verification token. Throws where that is refused. */
  subscribe(action: string, callbackUrl: string, auditFieldSet?: string[]): Promise<string>;
  /** Ends the subscription to the action. Throws where that is refused. */
  unsubscribe(action: string): Promise<void>;
  /** Publishes an event of the action for this account, and resolves with it. */
  hear(action: string, what?: Partial<PublishedEvent>): Promise<PublishedEvent>;
};

type Secrets = { objects: { secret: string }[] };
type Borrowed = { store?: TestDatabase; breakable?: Breakable };
type Parts = Pick<TestStack, 'stack' | 'upstream' | 'home' | 'brokerUrl'> & Borrowed;
type Start = Pick<StackOptions, 'lent'> &
  Borrowed & {
    settings: Record<string, string>;
    brokerUrl?: string | undefined;
  };

/** A whole system of its own: every service as a process. */
export class TestStack implements AsyncDisposable {
  readonly stack: Stack;
  readonly upstream: Upstream;
  readonly postgres: pg.Pool;
  readonly home: string;
  /** Straight to the broker, whatever way the services take. */
  readonly brokerUrl: string;

  readonly #borrowed: Borrowed;

  private constructor({ stack, upstream, home, brokerUrl, ...borrowed }: Parts) {
    this.stack = stack;
    this.upstream = upstream;
    this.home = home;
    this.brokerUrl = brokerUrl;
    this.#borrowed = borrowed;
    this.postgres = new pg.Pool({ Client: postgresClient({ url: stack.servers.url('postgres') }), max: 2 });
    this.postgres.on('error', () => undefined);
  }

  /** On the servers of the run, in a virtual host and databases of its own. `settings` are environment variables of the services. */
  static async start(settings: Record<string, string> = {}): Promise<TestStack> {
    const [{ url: rabbitmq }, { url: redis }, store] = await Promise.all([
      borrowVhost(),
      borrowRedis(),
      createTestDatabase(),
    ]);
    return TestStack.#start({ settings, lent: { rabbitmq, redis, postgres: store.url }, store });
  }

  /** On servers of the run, of which it may kill RabbitMQ: one test at a time has that, others wait. */
  static async startBreakable(settings: Record<string, string> = {}): Promise<TestStack> {
    const [breakable, store] = await Promise.all([borrowBreakable(), createTestDatabase()]);
    const { rabbitmqUrl: rabbitmq, redisUrl: redis } = breakable;
    return TestStack.#start({ settings, lent: { rabbitmq, redis, postgres: store.url }, store, breakable });
  }

  /**
   * On servers of its own, which a test may stop and kill. Where AMQP_URL is among the settings, that is the way that
   * services take to a broker which is at `brokerUrl`.
   */
  static async startAlone(settings: Record<string, string> = {}, brokerUrl?: string): Promise<TestStack> {
    return TestStack.#start({ settings, brokerUrl });
  }

  static async #start({ settings, brokerUrl, lent, ...borrowed }: Start): Promise<TestStack> {
    const home = await mkdtemp(join(tmpdir(), 'waybell-test-'));
    const env = { ...plainEnvironment(), ...withConstants(settings) };
    const begun = onceMore(noteOfRun, () =>
      startStack({ home, env, restart: 'soon', isThrowaway: true, ...(lent && { lent }) }),
    );
    const stack = await begun.catch((error: unknown) => {
      throw new Error(explainFailure(error), { cause: error });
    });
    const url = brokerUrl ?? stack.servers.url('rabbitmq');
    return new TestStack({ stack, upstream: await Upstream.connect(url), home, brokerUrl: url, ...borrowed });
  }

  /** Runs `rabbitmqctl`, which must leave alone what is in other virtual hosts, and resolves with what it prints. */
  async rabbitmqctl(...args: string[]): Promise<string> {
    const { servers } = this.stack;
    if (this.#borrowed.breakable !== undefined) throw new Error('a RabbitMQ to be broken is asked by `evaluate`');
    if (servers.sources.rabbitmq?.from === 'lent') return controlShared(...args);
    return rabbitmqctl(servers.process('rabbitmq').spec, ...args);
  }

  /** `kill -9`; resolves when it is back. */
  async killRabbitmq(): Promise<void> {
    const { breakable } = this.#borrowed;
    if (breakable !== undefined) {
      await breakable.rabbitmq.kill();
      return breakable.rabbitmq.start();
    }
    const server = this.stack.servers.process('rabbitmq');
    await server.kill();
    // Its supervisor starts it again.
    await until('RabbitMQ is back', () => server.state === 'ready');
  }

  /** The virtual host that the stack is in. */
  get vhost(): string {
    return decodeURIComponent(new URL(this.brokerUrl).pathname.slice(1)) || '/';
  }

  /** A new account with a client and a token of it. */
  async client(interfaceName: 'shipper' | 'carrier', features: string[] = []): Promise<Client> {
    const guid = randomUUID();
    // A statement that the tables of the last release take too.
    const account = 'insert into waybell.accounts (guid, interface, features) values ($1, $2, $3)';
    await this.postgres.query(account, [guid, interfaceName, features]);
    return this.clientOf(guid, interfaceName);
  }

  async clientOf(account: string, interfaceName: 'shipper' | 'carrier', clientId = 'default'): Promise<Client> {
    const token = newToken();
    const values = [randomUUID(), hashToken(token), account, clientId, [...DEFAULT_SCOPES]];
    await this.postgres.query(
      'insert into waybell.access_tokens (guid, hash, account_guid, client_id, scopes) values ($1, $2, $3, $4, $5)',
      values,
    );
    const call: Client['call'] = async (method, path, body) => {
      const response = await fetch(`${this.stack.addresses['API_URL']}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
    };
    return {
      account,
      token,
      call,
      async signingSecrets(how) {
        const path = '/v1/signing-secrets';
        const { body } = await (how === 'rotated' ? call('POST', `${path}/rotate`) : call('GET', path));
        // The shapes are the contract's, as below.
        const list = body as { data?: Secrets } & Secrets;
        return (list.data ?? list).objects.map(({ secret }) => secret);
      },
      hear: async (action, what = {}) => {
        const event = anEvent({ interface: interfaceName, action, parties: { [interfaceName]: account }, ...what });
        await this.upstream.publish(event);
        return event;
      },
      async unsubscribe(action) {
        const { status } = await (interfaceName === 'shipper'
          ? call('POST', `/v1/public/webhooks/${action}/unsubscribe`)
          : call('DELETE', `/v1/webhooks/${action}/subscriptions/`));
        if (status >= 300) throw new Error(`unsubscribing was answered with ${status}`);
      },
      async subscribe(action, callbackUrl, auditFieldSet) {
        const path =
          interfaceName === 'shipper'
            ? `/v1/public/webhooks/${action}/subscribe`
            : `/v1/webhooks/${action}/subscriptions/`;
        const set = auditFieldSet === undefined ? {} : { audit_field_set: auditFieldSet };
        const { status, body } = await call('POST', path, { callback_url: callbackUrl, ...set });
        if (status >= 300) throw new Error(`subscribing was answered with ${status}: ${JSON.stringify(body)}`);
        // The shapes are the contract's; a test fails on the token itself where they are not.
        const object = body as { data?: { object: { verification_token: string } }; verification_token?: string };
        return object.data?.object.verification_token ?? object.verification_token ?? '';
      },
    };
  }

  /** The guid of the subscription that is called at this address, or at one that ends so: one interface does not show it. */
  async subscriptionAt(callbackUrl: string): Promise<string> {
    const { rows } = await this.postgres.query<{ guid: string }>(
      'select guid from waybell.subscriptions where right(callback_url, length($1)) = $1',
      [callbackUrl],
    );
    if (rows[0] === undefined || rows.length > 1) throw new Error(`${rows.length} subscriptions at ${callbackUrl}`);
    return rows[0].guid;
  }

  /** Starts that service again with these settings beside its own; disposing of that, as it was. */
  async withSettings(name: string, settings: Record<string, string>): Promise<AsyncDisposable> {
    const service = this.stack.service(name);
    const { env } = service.spec;
    const restart = async (changed: NodeJS.ProcessEnv) => {
      service.spec.env = changed;
      await service.restart();
    };
    await restart({ ...env, ...withConstants(settings) });
    return { [Symbol.asyncDispose]: () => restart(env) };
  }

  /** Waits until every service says that it is ready, and its supervisor knows: what is starting is stopped in a hurry. */
  async untilReady(): Promise<void> {
    for (const service of this.stack.services) {
      await until(`${service.spec.name} is ready`, async () => {
        return service.state === 'ready' && (await service.spec.waitsFor()) === undefined;
      });
    }
  }

  /** Stops everything. Throws where a process of the stack outlives that. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.upstream[Symbol.asyncDispose]();
    await this.postgres.end();
    await this.stack.stop();
    await this.#borrowed.store?.[Symbol.asyncDispose]();
    await this.#borrowed.breakable?.[Symbol.asyncDispose]();
    await nothingLeftBehind([this.home, this.stack.servers.url('rabbitmq'), this.stack.servers.url('postgres')]);
    await rm(this.home, { recursive: true, force: true });
  }
}
