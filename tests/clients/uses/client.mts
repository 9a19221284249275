/** Subscribes, switches on what it has, lists it, and reads the delivery log, by types that were generated beside. */
import createClient from 'openapi-fetch';
import type { components, paths as Carrier } from './carrier.js';
import type { paths as Shipper } from './shipper.js';

const [interfaceName = '', baseUrl = '', token = '', action = ''] = process.argv.slice(2);
const options = { baseUrl, headers: { authorization: `Bearer ${token}` } };
const desired = { callback_url: 'https://hooks.test/a', actions: [action], is_active: true };
const query = { status: ['exhausted' as const, 'dropped' as const] };
const nobodys = { params: { path: { guid: '00000000-0000-0000-0000-000000000000' } } };

if (interfaceName === 'shipper') await asShipper(createClient<Shipper>(options));
else await asCarrier(createClient<Carrier>(options));

async function asShipper(api: ReturnType<typeof createClient<Shipper>>): Promise<void> {
  const subscribed = await api.POST('/v1/public/webhooks/{webhook_action}/subscribe', {
    params: { path: { webhook_action: action as 'order.created' } },
    body: { callback_url: desired.callback_url },
  });
  tellSubscribed(subscribed.data?.data.object);
  for (const put of (await api.PUT('/v1/subscriptions', { body: desired })).data?.data.objects ?? []) tellPut(put);
  for (const { guid } of (await api.GET('/v1/subscriptions')).data?.data.objects ?? []) {
    const changed = { params: { path: { guid } }, body: { is_active: true } };
    tellOn((await api.PATCH('/v1/subscriptions/{guid}', changed)).data?.data.object);
  }
  const { data } = await api.GET('/v1/deliveries', { params: { query } });
  for (const each of data?.data.objects ?? []) tellDelivery(each);
  tellProblem((await api.GET('/v1/deliveries/{guid}', nobodys)).error);
}

async function asCarrier(api: ReturnType<typeof createClient<Carrier>>): Promise<void> {
  const subscribed = await api.POST('/v1/webhooks/{webhook_action}/subscriptions/', {
    params: { path: { webhook_action: action as 'order.created' } },
    body: { callback_url: desired.callback_url },
  });
  tellSubscribed(subscribed.data);
  for (const put of (await api.PUT('/v1/subscriptions', { body: desired })).data?.objects ?? []) tellPut(put);
  for (const { guid } of (await api.GET('/v1/subscriptions')).data?.objects ?? []) {
    const changed = { params: { path: { guid } }, body: { is_active: true } };
    tellOn((await api.PATCH('/v1/subscriptions/{guid}', changed)).data);
  }
  for (const each of (await api.GET('/v1/deliveries', { params: { query } })).data?.objects ?? []) tellDelivery(each);
  tellProblem((await api.GET('/v1/deliveries/{guid}', nobodys)).error);
}

type Schemas = components['schemas'];

function tellSubscribed(made?: { action: string; verification_token?: string }): void {
  console.log('subscribed', made?.action, made?.verification_token?.length);
}

function tellPut(put: Schemas['PutSubscription']): void {
  console.log('put', put.action, put.result);
}

function tellOn(subscription?: Schemas['Subscription']): void {
  console.log('on', subscription?.action, subscription?.is_active);
}

function tellDelivery({ guid, action: of, status, attempts }: Schemas['ListedDelivery']): void {
  console.log('delivery', guid, of, status, attempts[0]?.reason);
}

function tellProblem(problem?: Schemas['Problem']): void {
  console.log('problem', problem?.status, problem?.type);
}
