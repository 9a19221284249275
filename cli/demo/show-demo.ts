import { setTimeout as pause } from 'node:timers/promises';
import type { EventEntry, EventVerdict } from '@waybell/delivery-log/read/entries';
import { eventHistory } from '@waybell/delivery-log/read/history';
import { openLine } from '../open-line.ts';
import { describeEvent } from '../why/describe-history.ts';
import { withDatabase } from '../with-database.ts';
import {
  isCarrierActive,
  makeClient,
  subscribe,
  subscribePath,
  unsubscribeShipper,
  type DemoClient,
} from './demo-client.ts';
import { demoEvents, orderGuid, writeEvent, type DemoEvent } from './demo-events.ts';
import { startReceiver, type DemoReceiver } from './demo-receiver.ts';
import { DemoTable } from './demo-table.ts';
import { publishEvent } from './publish-event.ts';
import { HeardOfTruck, showTruck } from './show-truck.ts';
import { until } from './until.ts';
import { watchOutcomes } from './watch-outcomes.ts';

export type DemoOptions = {
  /** With API_URL, AMQP_URL and DATABASE_URL of the running stack. */
  env: NodeJS.ProcessEnv;
  print: (line: string) => void;
  isColoured: boolean;
  /** Whether the receiver continues after the demo, and reports each callback. */
  staysUp: boolean;
  signal: AbortSignal;
};

const PACE_MS = 600;

/**
 * Lets new accounts of both interfaces subscribe to addresses of a receiver, good and bad, publishes an event for each
 * and prints every attempt, until the dead carrier subscription is off; then a truck drives. Resolves with what to try
 * next.
 */
export async function showDemo(options: DemoOptions): Promise<string> {
  const { env, print, signal } = options;
  let isOver = false;
  const truck = new HeardOfTruck(print);
  const receiver = await startReceiver((address, body) => {
    if (isOver) print(`callback at /${address}: ${body}`);
    else if (address === 'truck') truck.hear(body);
  });
  const clients = await makeClients(env);
  for (const event of demoEvents) {
    await subscribe(clients[event.interface], { ...event, callbackUrl: receiver.url(event.address) });
  }
  print('\nA demonstration: two accounts, seven subscriptions, one event for each.');
  const table = new DemoTable(options);
  await using _watching = await watchOutcomes(env, (outcome) => table.add(outcome));
  await publishEvents(clients, table, options);
  await until(() => table.underWay().every(waitsForLong), signal);
  await tellEnd(clients, table, options);
  await showTruck(truck, { ...options, client: clients.shipper, callbackUrl: receiver.url('truck') });
  if (options.staysUp) {
    isOver = true;
    return lookInBrowser(clients.carrier) + tryWithReceiver(clients.shipper, receiver);
  }
  for (const { event } of table.underWay().filter(({ event: { interface: name } }) => name === 'shipper')) {
    await unsubscribeShipper(clients.shipper, event.action);
    print(`The shipper is unsubscribed from ${event.action} again, because the demonstration's receiver ends here.`);
  }
  await receiver[Symbol.asyncDispose]();
  return lookInBrowser(clients.carrier) + tryWithoutReceiver(clients.shipper);
}

type Clients = Record<DemoEvent['interface'], DemoClient>;

async function makeClients(env: NodeJS.ProcessEnv): Promise<Clients> {
  const { API_URL: apiUrl = '' } = env;
  return withDatabase(env, async (postgres) => ({
    shipper: await makeClient(postgres, { interface: 'shipper', apiUrl }),
    carrier: await makeClient(postgres, { interface: 'carrier', apiUrl }),
  }));
}

async function publishEvents(clients: Clients, table: DemoTable, { env, signal }: DemoOptions): Promise<void> {
  await using line = await openLine(env);
  for (const event of demoEvents) {
    const written = writeEvent(event, clients[event.interface].account);
    table.expect(written.guid, event);
    await publishEvent(line, written);
    await pause(PACE_MS, undefined, { signal });
  }
}

/** The demo does not wait for attempts that are due much later, such as the shipper's retries. */
function waitsForLong({ retryAt }: { retryAt: number }): boolean {
  return retryAt - Date.now() > 10_000;
}

/** Prints the state of the dead carrier subscription, from the API, and what is still due. */
async function tellEnd({ carrier }: Clients, table: DemoTable, options: DemoOptions): Promise<void> {
  const { print, signal } = options;
  const underWay = table.underWay();
  for (const event of demoEvents) {
    const { address, action } = event;
    if (address !== 'dead' || underWay.some((each) => each.event === event)) continue;
    const isOff = await until(async () => !(await isCarrierActive(carrier, action)), signal);
    const verdict = isOff ? 'is switched off: the API now says "is_active": false' : 'is still active';
    print(`\nThe carrier's subscription to ${action} at the dead address ${verdict}.`);
    const guid = table.guidOf(event);
    print(`\n./waybell why --event ${guid} tells why:\n`);
    for (const line of await toldBySupport(guid, options)) print(`  ${line}`);
    print('');
  }
  for (const { event, retryAt } of underWay) {
    const due = retryAt === 0 ? 'soon' : `at ${new Date(retryAt).toISOString().slice(11, 19)}`;
    print(`The ${event.interface}'s ${event.action} at the ${event.address} address is due again ${due}.`);
  }
}

/** Resolves with the delivery log's entry of an event, once it is complete. */
async function toldBySupport(event: string, { env, signal }: DemoOptions): Promise<string[]> {
  return withDatabase(env, async (postgres) => {
    let entries: EventEntry[] = [];
    await until(async () => {
      entries = await eventHistory(postgres, event, 'operator');
      return entries.some(({ verdicts }) => verdicts.some(isGivenUp));
    }, signal);
    return entries.flatMap((entry) => describeEvent(entry, () => undefined));
  });
}

const isGivenUp = (verdict: EventVerdict) => verdict.kind === 'delivery' && verdict.delivery.deactivation !== undefined;

function lookInBrowser({ apiUrl, account, token }: DemoClient): string {
  return [
    'See all of it in the browser, and why order 4711 did not arrive:',
    '',
    `  ${apiUrl}/console/    signed in by the access token ${token}`,
    '',
    'What operators see needs another one:',
    '',
    `  ./waybell token create --account ${account} --client operators --scope admin`,
    '',
    '',
  ].join('\n');
}

function tryWithReceiver(client: DemoClient, receiver: DemoReceiver): string {
  const event = { interface: 'shipper', action: 'order.booked', payload: orderGuid } as const;
  const callback = JSON.stringify({ callback_url: receiver.url('healthy') });
  return [
    'Subscribe to an action yourself, publish an event for it, and see the callback here:',
    '',
    `  curl -s ${client.apiUrl}${subscribePath(event)} -H 'Authorization: Bearer ${client.token}' \\`,
    `    -H 'Content-Type: application/json; charset=utf-8' -d '${callback}'`,
    '',
    `  echo '${writeEvent(event, client.account).json}' | ./waybell publish`,
    '',
  ].join('\n');
}

function tryWithoutReceiver({ apiUrl, token }: DemoClient): string {
  return [
    "See what the demo's shipper has subscribed to:",
    '',
    `  curl -s ${apiUrl}/v1/public/webhooks -H 'Authorization: Bearer ${token}'`,
    '',
  ].join('\n');
}
