/**
 * The demonstration of `./waybell up`: two accounts subscribe to good and bad addresses of a receiver, an event is published
 * for each, and every attempt is printed; then a truck drives. It is a client of the running stack like any other.
 */

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { EventEntry, EventVerdict } from '@waybell/delivery-log/read/entries';
import { eventHistory } from '@waybell/delivery-log/read/history';
import { overhear } from '@waybell/line/operating/connect-once';
import { readOutcomes } from '@waybell/line/outcome-batch';
import type { Outcome, InterfaceName } from '@waybell/line/outcomes';
import { outcomesExchange } from '@waybell/line/topology';
import { closeServer, listen } from '@waybell/runtime/health';
import { brokerOf } from '@waybell/stack/address-of';
import type { StackFolder } from '@waybell/stack/stack-folder';
import { describeStack, requireRunning } from '@waybell/stack/stack-state';
import { createAccount } from '@waybell/subscription-api/accounts';
import { createToken } from '@waybell/subscription-api/tokens';
import { openLine } from '../open-line.ts';
import { report } from '../print.ts';
import { describeEvent } from '../why/describe-history.ts';
import { withDatabase } from '../with-database.ts';
import { demoEvents, orderGuid, writeEvent, publishEvent, type DemoEvent, type Address } from './demo-events.ts';
import { DemoTable } from './demo-table.ts';

const PACE_MS = 600;
const POLL_MS = 50;
/** With the default schedule it takes ten seconds; with longer delays it is not waited for. */
const LONGEST_MS = 60_000;

type DemoOptions = {
  /** With API_URL, AMQP_URL and DATABASE_URL of the running stack. */
  env: NodeJS.ProcessEnv;
  print: (line: string) => void;
  isColoured: boolean;
  /** Whether the receiver continues after the demo, and reports each callback. */
  staysUp: boolean;
  signal: AbortSignal;
};

/** Shows the demo on a stack that has just become ready, unless unwanted, then its addresses and what to try next. */
export async function presentStack(folder: StackFolder, options: { demo: boolean; staysUp: boolean }): Promise<void> {
  const halt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => halt.abort());
  const tryNext = options.demo ? await demoOn(folder, { ...options, signal: halt.signal }) : '';
  if (!halt.signal.aborted) console.log([describeStack(folder), tryNext].join('\n').trimEnd());
}

/** Returns a text that suggests what to try next; empty if the demo failed, which is reported and stops nothing. */
async function demoOn(folder: StackFolder, demo: { staysUp: boolean; signal: AbortSignal }): Promise<string> {
  try {
    return await showDemo({
      ...demo,
      env: { ...process.env, ...requireRunning(folder).addresses },
      print: (line) => console.log(line),
      isColoured: process.stdout.isTTY && !process.env['NO_COLOR'],
    });
  } catch (error) {
    if (!demo.signal.aborted) report(`the demo ends here: ${error instanceof Error ? error.message : String(error)}`);
    return '';
  }
}

/**
 * Lets new accounts of both interfaces subscribe to addresses of a receiver, good and bad, publishes an event for each
 * and prints every attempt, until the dead carrier subscription is off; then a truck drives. Resolves with what to try
 * next.
 */
async function showDemo(options: DemoOptions): Promise<string> {
  const { env, print, signal } = options;
  let isOver = false;
  const truck = new TruckCallbacks(print);
  const receiver = await startReceiver((address, body) => {
    if (isOver) print(`callback at /${address}: ${body}`);
    else if (address === 'truck') truck.add(body);
  });
  const clients = await makeClients(env);
  for (const event of demoEvents) {
    await subscribe(clients[event.interface], { ...event, callbackUrl: receiver.url(event.address) });
  }
  print('\nA demonstration: two accounts, seven subscriptions, one event for each.');
  const table = new DemoTable(options);
  await using _watching = await watchOutcomes(env, (outcome) => table.add(outcome));
  await publishEvents(clients, table, options);
  await until(() => table.underWay().every(isDueMuchLater), signal);
  await reportEnd(clients, table, options);
  await showTruck(truck, { ...options, client: clients.shipper, callbackUrl: receiver.url('truck') });
  if (options.staysUp) {
    isOver = true;
    return hintBrowser(clients.carrier) + hintReceiver(clients.shipper, receiver);
  }
  for (const { event } of table.underWay().filter(({ event: { interface: name } }) => name === 'shipper')) {
    await unsubscribeShipper(clients.shipper, event.action);
    print(`The shipper is unsubscribed from ${event.action} again, because the demonstration's receiver ends here.`);
  }
  await receiver[Symbol.asyncDispose]();
  return hintBrowser(clients.carrier) + hintSubscriptions(clients.shipper);
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

/** Calls `onOutcome` with every outcome from now on. */
async function watchOutcomes(env: NodeJS.ProcessEnv, onOutcome: (outcome: Outcome) => void): Promise<AsyncDisposable> {
  const onBody = (body: Buffer) => readOutcomes(body).forEach(onOutcome);
  return overhear(brokerOf(env), { exchange: outcomesExchange, onBody });
}

/** The demo does not wait for attempts that are due much later, such as the shipper's retries. */
function isDueMuchLater({ retryAt }: { retryAt: number }): boolean {
  return retryAt - Date.now() > 10_000;
}

/** Prints the state of the dead carrier subscription, from the API, and what is still due. */
async function reportEnd({ carrier }: Clients, table: DemoTable, options: DemoOptions): Promise<void> {
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
    for (const line of await explainEvent(guid, options)) print(`  ${line}`);
    print('');
  }
  for (const { event, retryAt } of underWay) {
    const due = retryAt === 0 ? 'soon' : `at ${new Date(retryAt).toISOString().slice(11, 19)}`;
    print(`The ${event.interface}'s ${event.action} at the ${event.address} address is due again ${due}.`);
  }
}

/** Resolves with the delivery log's entry of an event, once it is complete. */
async function explainEvent(event: string, { env, signal }: DemoOptions): Promise<string[]> {
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

function hintBrowser({ apiUrl, account, token }: DemoClient): string {
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

function hintReceiver(client: DemoClient, receiver: DemoReceiver): string {
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

function hintSubscriptions({ apiUrl, token }: DemoClient): string {
  return [
    "See what the demo's shipper has subscribed to:",
    '',
    `  curl -s ${apiUrl}/v1/public/webhooks -H 'Authorization: Bearer ${token}'`,
    '',
  ].join('\n');
}

/** An API client with an account of its own, as integrators have one. */
type DemoClient = { account: string; token: string; apiUrl: string };

async function makeClient(
  postgres: pg.Pool,
  { interface: interfaceName, apiUrl }: { interface: InterfaceName; apiUrl: string },
): Promise<DemoClient> {
  const { guid } = await createAccount(postgres, { interface: interfaceName });
  return { account: guid, token: await createToken(postgres, { accountGuid: guid, clientId: 'demo' }), apiUrl };
}

/** Throws, with the API's own words, where subscribing is refused. */
async function subscribe(
  client: DemoClient,
  wanted: { interface: InterfaceName; action: string; callbackUrl: string },
): Promise<void> {
  await call(client, 'POST', subscribePath(wanted), { callback_url: wanted.callbackUrl });
}

function subscribePath({ interface: interfaceName, action }: { interface: InterfaceName; action: string }) {
  return interfaceName === 'shipper'
    ? `/v1/public/webhooks/${action}/subscribe`
    : `/v1/webhooks/${action}/subscriptions/`;
}

async function unsubscribeShipper(client: DemoClient, action: string): Promise<void> {
  await call(client, 'POST', `/v1/public/webhooks/${action}/unsubscribe`);
}

/** Whether the API says that the carrier's subscription is active. */
async function isCarrierActive(client: DemoClient, action: string): Promise<boolean> {
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

const TRUCK_ACTIONS = ['vehicle.gps_activated', 'vehicle.driver_location_updated', 'vehicle.gps_deactivated'];
const REPORTS = 40;
const REPORT_EVERY_MS = 100;
/** About 100 m to the east at this latitude. */
const STEP_DEGREES = 0.0015;
const START = { latitude: 52.52, longitude: 13.405 };

type TruckOptions = Pick<DemoOptions, 'env' | 'print' | 'signal'> & { client: DemoClient; callbackUrl: string };

/**
 * A truck reports its position again and again, of which its client is notified rarely; then it falls silent, and the client is
 * notified once more.
 */
async function showTruck(callbacks: TruckCallbacks, options: TruckOptions): Promise<void> {
  const { client, callbackUrl, print, signal } = options;
  for (const action of TRUCK_ACTIONS) await subscribe(client, { interface: 'shipper', action, callbackUrl });
  print(
    `\nA truck of the shipper's drives four kilometres and reports its position ${REPORTS} times. The client hears:`,
  );
  await drive(options);
  await until(() => callbacks.actions.length > 1, signal);
  print('It has arrived, and reports nothing any more.');
  await until(() => callbacks.actions.includes('vehicle.gps_deactivated'), signal);
}

async function drive({ client, env, signal }: TruckOptions): Promise<void> {
  const vehicles = [{ guid: randomUUID(), picked_up: true }];
  await using line = await openLine(env);
  for (let place = 0; place < REPORTS; place += 1) {
    const payload = () => ({
      vehicles,
      latitude: START.latitude,
      longitude: Number((START.longitude + place * STEP_DEGREES).toFixed(4)),
      recorded_at: new Date().toISOString(),
    });
    const position = { interface: 'shipper', action: 'vehicle.location_reported', payload } as const;
    await publishEvent(line, writeEvent(position, client.account));
    await pause(REPORT_EVERY_MS, undefined, { signal });
  }
}

/** Collects the callbacks about the truck, one line each. */
class TruckCallbacks {
  readonly actions: string[] = [];
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  add(body: string): void {
    // The demo's own subscriptions: the notification has the form of the specification.
    const { action, latitude, longitude } = JSON.parse(body) as { action: string; latitude: number; longitude: number };
    this.actions.push(action);
    const what = action === 'vehicle.driver_location_updated' ? `at ${latitude}, ${longitude}` : '';
    this.#print(`${new Date().toISOString().slice(11, 23)}  ${action.padEnd(32)}  ${what}`.trimEnd());
  }
}

const FLAKY_FAILURES = 2;

type DemoReceiver = AsyncDisposable & { url: (address: Address) => string };

/** A small integrator's server on a free port of this machine. Reports each callback with its address and content. */
async function startReceiver(onCallback: (address: string, body: string) => void): Promise<DemoReceiver> {
  const failures = new Map<string, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      answer(request, response, failures);
      onCallback(addressOf(request), Buffer.concat(chunks).toString());
    });
  });
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    url: (address) => `http://127.0.0.1:${port}/${address}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await closeServer(server);
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse, failures: Map<string, number>): void {
  response.statusCode = statusFor(addressOf(request), String(request.headers['webhook-id']), failures);
  response.end();
}

function statusFor(address: string, delivery: string, failures: Map<string, number>): number {
  if (address === 'dead') return 503;
  if (address !== 'flaky') return 200;
  const failed = failures.get(delivery) ?? 0;
  if (failed >= FLAKY_FAILURES) return 200;
  failures.set(delivery, failed + 1);
  return 500;
}

function addressOf({ url = '/' }: IncomingMessage): string {
  return url.slice(1);
}

/** Whether it came true in time. Rejects when the signal comes first. */
async function until(isTrue: () => boolean | Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + LONGEST_MS;
  while (!(await isTrue())) {
    if (Date.now() > deadline) return false;
    await pause(POLL_MS, undefined, { signal });
  }
  return true;
}
