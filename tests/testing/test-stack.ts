import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { explainFailure } from '@waybell/stack/explain-failure';
import { startStack, type Stack } from '@waybell/stack/stack';
import { createAccount } from '@waybell/subscription-api/accounts';
import { createToken } from '@waybell/subscription-api/tokens';
import { anEvent, type PublishedEvent } from './event.ts';
import { nothingLeftBehind } from './left-behind.ts';
import { plainEnvironment } from './plain-environment.ts';
import { until } from '@waybell/runtime/testing/until';
import { Upstream } from './upstream.ts';

/** An API client of one account, as an integrator has it: an address and a token. */
export type Client = {
  account: string;
  token: string;
  /** Calls the API; resolves with status and body as they came. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
  /** Subscribes and resolves with the verification token. Throws where that is refused. */
  subscribe(action: string, callbackUrl: string, auditFieldSet?: string[]): Promise<string>;
  /** Publishes an event of the action for this account, and resolves with it. */
  hear(action: string, what?: Partial<PublishedEvent>): Promise<PublishedEvent>;
};

/** A whole system of its own: private servers and every service as a process. */
export class TestStack implements AsyncDisposable {
  readonly stack: Stack;
  readonly upstream: Upstream;
  readonly postgres: pg.Pool;
  readonly home: string;
  /** Straight to the broker, whatever way the services take. */
  readonly brokerUrl: string;

  constructor({ stack, upstream, home, brokerUrl }: Pick<TestStack, 'stack' | 'upstream' | 'home' | 'brokerUrl'>) {
    this.stack = stack;
    this.upstream = upstream;
    this.home = home;
    this.brokerUrl = brokerUrl;
    this.postgres = new pg.Pool({ connectionString: stack.servers.url('postgres'), max: 2 });
    this.postgres.on('error', () => undefined);
  }

  /**
   * `settings` are the services' environment variables. Where AMQP_URL is among them, that is the way they take to a
   * broker which is at `brokerUrl`.
   */
  static async start(settings: Record<string, string> = {}, brokerUrl?: string): Promise<TestStack> {
    const home = await mkdtemp(join(tmpdir(), 'waybell-test-'));
    const stack = await startStack({ home, env: { ...plainEnvironment(), ...settings }, restart: 'soon' }).catch(
      (error: unknown) => {
        throw new Error(explainFailure(error), { cause: error });
      },
    );
    const url = brokerUrl ?? stack.servers.url('rabbitmq');
    return new TestStack({ stack, upstream: await Upstream.connect(url), home, brokerUrl: url });
  }

  /** A new account with a client and a token of it. */
  async client(interfaceName: 'shipper' | 'carrier', features: string[] = []): Promise<Client> {
    const { guid } = await createAccount(this.postgres, { interface: interfaceName, features });
    return this.clientOf(guid, interfaceName);
  }

  async clientOf(account: string, interfaceName: 'shipper' | 'carrier', clientId = 'default'): Promise<Client> {
    const token = await createToken(this.postgres, { accountGuid: account, clientId });
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
      hear: async (action, what = {}) => {
        const event = anEvent({ interface: interfaceName, action, parties: { [interfaceName]: account }, ...what });
        await this.upstream.publish(event);
        return event;
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

  /** The guid of the subscription that is called at this address: one interface does not show it. */
  async subscriptionAt(callbackUrl: string): Promise<string> {
    const { rows } = await this.postgres.query<{ guid: string }>(
      'select guid from waybell.subscriptions where callback_url = $1',
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
    await restart({ ...env, ...settings });
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
    await nothingLeftBehind([this.home, this.stack.servers.url('rabbitmq'), this.stack.servers.url('postgres')]);
    await rm(this.home, { recursive: true, force: true });
  }
}
