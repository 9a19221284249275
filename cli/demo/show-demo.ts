import { setTimeout as pause } from 'node:timers/promises';
import { eventsExchange } from '@waybell/line/topology';
import { openLine, type Line } from '../open-line.ts';
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
import { watchOutcomes } from './watch-outcomes.ts';

export type DemoOptions = {
  /** Of the running stack: API_URL, AMQP_URL, DATABASE_URL. */
  addresses: Record<string, string>;
  print: (line: string) => void;
  isColoured: boolean;
  /** Whether the receiver lives on, and tells of each callback, when the demo is over. */
  staysUp: boolean;
  signal: AbortSignal;
};

const PACE_MS = 600;
const LOOK_EVERY_MS = 50;
/** With the default schedule it takes ten seconds; with longer delays it is not waited for. */
const LONGEST_MS = 60_000;

/**
 * Lets new accounts of both interfaces subscribe to addresses of a receiver, good and bad, publishes an event for each
 * and prints every attempt, until the dead carrier subscription is off. Resolves with what to try next.
 */
export async function showDemo(options: DemoOptions): Promise<string> {
  const { addresses, print, signal } = options;
  let isOver = false;
  const receiver = await startReceiver((address, body) => isOver && print(`callback at /${address}: ${body}`));
  const clients = await makeClients(addresses);
  for (const event of demoEvents) {
    await subscribe(clients[event.interface], { ...event, callbackUrl: receiver.url(event.address) });
  }
  print('\nA demonstration: two accounts, seven subscriptions, one event for each.');
  const table = new DemoTable(options);
  await using _watching = await watchOutcomes(addresses['AMQP_URL'] ?? '', (outcome) => table.add(outcome));
  await publishEvents(clients, table, options);
  await until(() => table.underWay().every(waitsForLong), signal);
  await tellEnd(clients, table, options);
  if (options.staysUp) {
    isOver = true;
    return tryWithReceiver(clients.shipper, receiver);
  }
  for (const { event } of table.underWay().filter(({ event: { interface: name } }) => name === 'shipper')) {
    await unsubscribeShipper(clients.shipper, event.action);
    print(`It is unsubscribed from ${event.action}, because the demonstration's receiver ends here.`);
  }
  await receiver[Symbol.asyncDispose]();
  return tryWithoutReceiver(clients.shipper);
}

type Clients = Record<DemoEvent['interface'], DemoClient>;

async function makeClients({ DATABASE_URL = '', API_URL: apiUrl = '' }: Record<string, string>): Promise<Clients> {
  return withDatabase({ DATABASE_URL }, async (postgres) => ({
    shipper: await makeClient(postgres, { interface: 'shipper', apiUrl }),
    carrier: await makeClient(postgres, { interface: 'carrier', apiUrl }),
  }));
}

async function publishEvents(clients: Clients, table: DemoTable, { addresses, signal }: DemoOptions): Promise<void> {
  await using line = await openLine(eventsExchange, addresses);
  for (const event of demoEvents) {
    await publishEvent(line, event, { account: clients[event.interface].account, table });
    await pause(PACE_MS, undefined, { signal });
  }
}

async function publishEvent(line: Line, event: DemoEvent, to: { account: string; table: DemoTable }): Promise<void> {
  const { guid, routingKey, json } = writeEvent(event, to.account);
  to.table.expect(guid, event);
  await line.publish({
    kind: 'publish',
    exchange: eventsExchange,
    routingKey,
    body: Buffer.from(json),
    messageId: guid,
    contentType: 'application/json',
  });
}

/** The demo is over without what is due only in a while, such as the shipper's retries. */
function waitsForLong({ retryAt }: { retryAt: number }): boolean {
  return retryAt - Date.now() > 10_000;
}

/** Says of the dead carrier subscription what the API says of it, and of what is still to come when. */
async function tellEnd({ carrier }: Clients, table: DemoTable, { print, signal }: DemoOptions): Promise<void> {
  const underWay = table.underWay();
  for (const { interface: name, address, action } of demoEvents) {
    if (address !== 'dead' || underWay.some(({ event }) => event.action === action && event.interface === name))
      continue;
    const isOff = await until(async () => !(await isCarrierActive(carrier, action)), signal);
    const verdict = isOff ? 'is switched off: the API now says "is_active": false' : 'is still active';
    print(`\nThe carrier's subscription to ${action} at the dead address ${verdict}.`);
  }
  for (const { event, retryAt } of underWay) {
    const due = retryAt === 0 ? 'soon' : `at ${new Date(retryAt).toISOString().slice(11, 19)}`;
    print(`The ${event.interface}'s ${event.action} at the ${event.address} address is due again ${due}.`);
  }
}

/** Whether it came true in time. Rejects when the signal comes first. */
async function until(isTrue: () => boolean | Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + LONGEST_MS;
  while (!(await isTrue())) {
    if (Date.now() > deadline) return false;
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  return true;
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
