import { createToken } from '@waybell/subscription-api/tokens';
import { anEvent } from '../../testing/event.ts';
import type { TestStack } from '../../testing/test-stack.ts';
import type { Planted } from './planted.ts';
import type { Saw } from './sightings.ts';

const ACTION = 'order.created';
const SUBSCRIPTIONS = `/v1/webhooks/${ACTION}/subscriptions/`;

/** `at`: where, unless at the REST interface. */
export type Ask = { token?: string; headers?: Record<string, string>; body?: string; at?: string };

export type Subscribed = { token: string; subscription: string; account: string };

/** Does what clients and upstream do, with planted secrets wherever one can be, and remembers every answer. */
export class Witness {
  readonly answers: Saw[] = [];
  readonly #stack: TestStack;
  readonly #planted: Planted;

  constructor(stack: TestStack, planted: Planted) {
    this.#stack = stack;
    this.#planted = planted;
  }

  async ask(
    method: string,
    path: string,
    { token, headers, body, at }: Ask = {},
  ): Promise<{ status: number; text: string }> {
    const response = await fetch(`${at ?? this.#stack.stack.addresses['API_URL']}${path}`, {
      method,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const head = JSON.stringify([...response.headers]);
    this.answers.push({ channel: 'answer', place: `${method} ${path.split('?')[0]}`, text: `${head}\n${text}` });
    return { status: response.status, text };
  }

  /** A carrier of its own that is subscribed at this address, with a secret in its query. */
  async subscribe(url: string): Promise<Subscribed> {
    const { account, token } = await this.#stack.client('carrier');
    this.#planted.add('access token', token);
    const callbackUrl = `${url}?key=${this.#planted.plant('callback query')}`;
    const { text } = await this.ask('POST', SUBSCRIPTIONS, {
      token,
      body: JSON.stringify({ callback_url: callbackUrl }),
    });
    // The contract's shape; the token is missing in the plants where it is not.
    this.#planted.add('verification token', (JSON.parse(text) as { verification_token: string }).verification_token);
    return { account, token, subscription: await this.#stack.subscriptionAt(callbackUrl) };
  }

  async unsubscribe({ token }: Subscribed): Promise<void> {
    await this.ask('DELETE', SUBSCRIPTIONS, { token });
  }

  async readSubscription({ token }: Subscribed): Promise<void> {
    await this.ask('GET', SUBSCRIPTIONS, { token });
  }

  async readDeliveries({ token }: Subscribed, guids: readonly string[]): Promise<void> {
    for (const path of ['', ...guids.map((guid) => `/${guid}`)])
      await this.ask('GET', `/v1/deliveries${path}`, { token });
  }

  /** Plants the account's signing secrets, two of them. */
  async rotate({ token }: Subscribed): Promise<void> {
    await this.ask('GET', '/v1/signing-secrets', { token });
    const { text } = await this.ask('POST', '/v1/signing-secrets/rotate', { token });
    const { objects } = JSON.parse(text) as { objects: { secret: string }[] };
    for (const { secret } of objects) {
      this.#planted.addBytes('signing secret', Buffer.from(secret.replace('whsec_', ''), 'base64'));
    }
  }

  /** Resolves with the event's guid. */
  async publish({ account }: Subscribed): Promise<string> {
    const payload = { id: 4711, status: 'new', comment: this.#planted.plant('payload') };
    const event = anEvent({ interface: 'carrier', action: ACTION, parties: { carrier: account }, payload });
    await this.#stack.upstream.publish(event);
    return event.guid;
  }

  /** Makes operators' requests over HTTP, right and wrong ones. */
  async operate(adminUrl: string, { account }: Subscribed): Promise<void> {
    const token = await createToken(this.#stack.postgres, { accountGuid: account, scopes: ['admin'] });
    this.#planted.add('access token', token);
    const ask = (method: string, path: string, body?: object) =>
      this.ask(method, path, { token, at: adminUrl, ...(body !== undefined && { body: JSON.stringify(body) }) });
    const tokens = `/v1/admin/accounts/${account}/tokens`;
    await ask('GET', '/v1/admin/accounts');
    const { text } = await ask('POST', tokens, { client_id: 'tms' });
    for (const [made] of text.matchAll(/wbl_[\w-]+/g)) this.#planted.add('access token', made);
    // A token does not belong here.
    await ask('DELETE', `/v1/admin/tokens/${token}`);
    await ask('GET', tokens);
    await ask('POST', tokens, { client_id: 'tms', token, scopes: [token], expires_in: token });
    await ask('DELETE', `/v1/admin/tokens/${account}`);
  }

  /** Each is nonsense in a way of its own. */
  async publishNonsense(): Promise<number> {
    const mark = () => this.#planted.plant('payload');
    const event = anEvent({ interface: 'carrier', action: ACTION, parties: { carrier: 'x' }, payload: {} });
    const bodies = [
      mark(),
      `{"payload":{"comment":"${mark()}"`,
      `{"payload":{"comment":"${mark()}\u0001"}}`,
      JSON.stringify({ ...event, payload: { id: mark(), status: mark() } }),
      JSON.stringify({ ...event, payload: { id: 4711, status: [mark()] } }),
      JSON.stringify({ ...event, payload: mark() }),
      JSON.stringify({ ...event, parties: { carrier: mark() } }),
      JSON.stringify({ ...event, occurred_at: mark() }),
      `{"payload":{"${mark()}":1,"b":${mark()}}}`,
    ];
    for (const body of bodies) await this.#stack.upstream.publishRaw(`carrier.${ACTION}`, Buffer.from(body));
    return bodies.length;
  }

  /** Requests that are refused: the token is somewhere else, or no client's, or the body is wrong. */
  async askWrongly({ token }: Subscribed, jwts: readonly string[]): Promise<void> {
    const stray = `wbl_${this.#planted.plant('access token')}`;
    const wrong = (member: string) => JSON.stringify({ callback_url: member, [member]: member });
    const body = JSON.stringify({ callback_url: 'https://hooks.example.com/' });
    await this.ask('GET', `/v1/webhooks?access_token=${token}`);
    await this.ask('POST', SUBSCRIPTIONS, { body: `${body.slice(0, -1)},"access_token":"${token}"}` });
    await this.ask('GET', '/v1/webhooks', { headers: { authorization: `Basic ${btoa(`me:${token}`)}` } });
    await this.ask('GET', '/v1/webhooks', { headers: { cookie: `token=${token}` } });
    for (const each of [stray, `${stray}\u00e9`, ...jwts]) await this.ask('GET', '/v1/webhooks', { token: each });
    await this.ask('GET', `/v1/webhooks/none?token=${token}`, { token });
    for (const kind of ['ftp://me:%@hooks.example.com/', 'https://10.0.0.1/?key=%', 'https://%.invalid:22/', '%']) {
      const address = kind.replace('%', this.#planted.plant('callback query'));
      await this.ask('POST', SUBSCRIPTIONS, { token, body: JSON.stringify({ callback_url: address }) });
    }
    await this.ask('POST', SUBSCRIPTIONS, { token, body: wrong('callback_urls') });
    await this.ask('POST', SUBSCRIPTIONS, { token, body: `{"callback_url":"${this.#planted.plant('callback query')}` });
  }
}
