import type { InterfaceName } from '@waybell/line/outcomes';
import { createAccount } from '@waybell/subscription-api/accounts';
import { createToken } from '@waybell/subscription-api/tokens';
import type pg from 'pg';

/** An API client with an account of its own, as integrators have one. */
export type DemoClient = { account: string; token: string; apiUrl: string };

export async function makeClient(
  postgres: pg.Pool,
  { interface: interfaceName, apiUrl }: { interface: InterfaceName; apiUrl: string },
): Promise<DemoClient> {
  const { guid } = await createAccount(postgres, { interface: interfaceName });
  return { account: guid, token: await createToken(postgres, { accountGuid: guid, clientId: 'demo' }), apiUrl };
}

/** Throws, with the API's own words, where subscribing is refused. */
export async function subscribe(
  client: DemoClient,
  wanted: { interface: InterfaceName; action: string; callbackUrl: string },
): Promise<void> {
  await call(client, 'POST', subscribePath(wanted), { callback_url: wanted.callbackUrl });
}

export function subscribePath({ interface: interfaceName, action }: { interface: InterfaceName; action: string }) {
  return interfaceName === 'shipper'
    ? `/v1/public/webhooks/${action}/subscribe`
    : `/v1/webhooks/${action}/subscriptions/`;
}

export async function unsubscribeShipper(client: DemoClient, action: string): Promise<void> {
  await call(client, 'POST', `/v1/public/webhooks/${action}/unsubscribe`);
}

/** Whether the API says that the carrier's subscription is active. */
export async function isCarrierActive(client: DemoClient, action: string): Promise<boolean> {
  const subscriptions = await call(client, 'GET', subscribePath({ interface: 'carrier', action }));
  return Array.isArray(subscriptions) && subscriptions.some((each: { is_active?: boolean }) => each.is_active === true);
}

async function call({ token, apiUrl }: DemoClient, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${apiUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}: ${text}`);
  return JSON.parse(text);
}
