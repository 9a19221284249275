import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { ConfirmChannel } from 'amqplib';
import { readMessage } from '@waybell/line/broker/amqp-message';
import { openBatch } from '@waybell/line/delivery-batch';
import { waybellHeaders } from '@waybell/line/messages';
import { rejectedQueue } from '@waybell/line/topology';
import { until } from '@waybell/runtime/testing/until';
import { messageGuidOf } from '../../actions/oracle/message-guid.ts';
import { NOTHING, type Balance } from '../../testing/balance.ts';
import { anEvent, type PublishedEvent } from '../../testing/event.ts';
import { onChannel } from '../../testing/on-channel.ts';
import { bodyOwed } from '../../testing/subscribers.ts';
import type { Course, Fault } from '../fault.ts';
import { peaksOf } from '../peak-memory.ts';
import type { Stage } from '../stage.ts';
import { readKeyRing } from '@waybell/runtime/secrets';
import { stackFolder } from '@waybell/stack/stack-folder';
import { readRecord } from '@waybell/stack/stack-record';
import type { TestStack } from '../../testing/test-stack.ts';
import { createServer, type ServerResponse } from 'node:http';
import { closeServer, listen } from '@waybell/runtime/health';

const MIB = 2 ** 20;
const ACTION = { interface: 'carrier', action: 'order.assigned' } as const;
/** Every notification has bytes of its own, the message's guid among them. */
const FAN_OUT = { short: { clients: 300, bytes: 0.9 * MIB }, release: { clients: 10_000, bytes: 0.99 * MIB } };
const EVENTS = 2;
const DEAD = { short: 350, release: 2_000 };
const DEAD_BYTES = 0.9 * MIB;
/** Nearly what the broker takes, and far beyond that. */
const REJECTED = { count: { short: 20, release: 200 }, bytes: 15 * MIB };
const REFUSED_BYTES = 100 * MIB;
const PRECONDITION_FAILED = 406;

/** The shipped limits of what is held: memory is to stay flat with them. */
const shipped = { DELIVER_SLOTS: '', DELIVER_HELD: '' };
const settings = { ...shipped, CARRIER_RESPONSE_LIMIT: '2s', CARRIER_RETRY_DELAYS: '200ms' };
const bars = { duplicates: 0, megabytes: 300 };

/** Events of the maximum size and number. */
export const large: Fault[] = [
  { row: 'L22', name: 'large events for many subscriptions', settings, bars, run: fanOutLarge },
  { row: 'L22', name: 'large deliveries to receivers that never answer', settings, bars, run: deliverToTheDead },
  { row: 'L22', name: 'messages beyond every limit', settings, bars, run: sendTooLarge },
];

async function fanOutLarge(stage: Stage): Promise<Course> {
  const { clients, bytes } = FAN_OUT[stage.scale];
  return sendLarge(stage, { paths: pathsOf('/ok', clients), bytes, events: EVENTS, end: 'delivered' });
}

/** Events published meanwhile are delivered nevertheless. */
async function deliverToTheDead(stage: Stage): Promise<Course> {
  const count = DEAD[stage.scale];
  return sendLarge(stage, { paths: pathsOf('/hang', count), bytes: DEAD_BYTES, events: 1, end: 'exhausted' });
}

type Large = { paths: string[]; bytes: number; events: number; end: 'delivered' | 'exhausted' };

async function sendLarge({ stack }: Stage, { paths, bytes, events: count, end }: Large): Promise<Course> {
  await using receiver = await MeasuringReceiver.start();
  const urls = paths.map((path) => receiver.url(path));
  const { account, subscriptions } = await manyClients(stack, { ...ACTION, urls });
  const events = Array.from({ length: count }, () =>
    anEvent({ ...ACTION, parties: { carrier: account }, payload: { id: 1, notes: 'x'.repeat(bytes) } }),
  );
  await Promise.all(events.map((event) => stack.upstream.publish(event)));
  const owed = events.flatMap((event) => {
    const hashOf = hashesOf(event);
    return subscriptions.map((subscription): Owed => {
      const delivery = messageGuidOf(event.guid, subscription);
      return { event: event.guid, delivery, hash: () => hashOf(delivery) };
    });
  });
  const ends = await untilEnded(
    stack,
    owed.map(({ delivery }) => delivery),
  );
  const balance = balanceOf(owed, { received: receiver.received, ends, end });
  return { books: { published: count, balance }, notes: [peaksOf(stack.stack.services)] };
}

/** `hash`: of the body that its receiver is to get. */
type Owed = { event: string; delivery: string; hash: () => string };

/** The hash of a body that is the event's, but for the guid of the message. */
function hashesOf(event: PublishedEvent): (delivery: string) => string {
  const [before = '', after = ''] = bodyOwed(event, PLACE).split(PLACE);
  return (delivery) => createHash('sha256').update(before).update(delivery).update(after).digest('hex');
}

const PLACE = '00000000-0000-5000-8000-000000000000';

/** The end of each delivery, as the log tells it. */
async function untilEnded({ postgres }: Stage['stack'], deliveries: readonly string[]): Promise<Map<string, string>> {
  let found = new Map<string, string>();
  await until(
    'each is in the log with its end',
    async () => {
      const { rows } = await postgres.query<{ delivery: string; kind: string }>(
        `select delivery, kind from delivery_log.attempts where kind <> 'failed' and delivery = any ($1::uuid[])`,
        [deliveries],
      );
      found = new Map(rows.map(({ delivery, kind }) => [delivery, kind]));
      return found.size === deliveries.length;
    },
    () => found.size,
  );
  return found;
}

type Came = { received: readonly Measured[]; ends: ReadonlyMap<string, string>; end: Large['end'] };

function balanceOf(owed: readonly Owed[], { received, ends, end }: Came): Balance {
  const requests = Map.groupBy(received, ({ delivery }) => delivery);
  const balance: Balance = { ...NOTHING, lost: [], forked: [] };
  for (const { event, delivery, hash } of owed) {
    const own = requests.get(delivery) ?? [];
    const [sha256, attempts] = [hash(), new Set(own.map(({ attempt }) => attempt))];
    const lose = (why: string) => balance.lost.push({ event, delivery, why });
    balance.duplicates += own.length - attempts.size;
    if (ends.get(delivery) !== end) lose(`owed: ${end}, but ${ends.get(delivery)}`);
    else if (own.length === 0) lose(`${end}, and no receiver saw it`);
    else if (own.some((each) => each.sha256 !== sha256)) lose(`${end}, but with other bytes`);
    else balance[end] += 1;
  }
  return balance;
}

async function sendTooLarge({ stack, scale }: Stage): Promise<Course> {
  const key = `${ACTION.interface}.${ACTION.action}`;
  let refusal = 0;
  // A channel that the broker has closed cannot be closed once more.
  await onChannel(stack.brokerUrl, async (channel) => {
    refusal = await refusedWith(channel, key);
  }).catch(() => undefined);
  const count = REJECTED.count[scale];
  const body = Buffer.alloc(REJECTED.bytes, 'x');
  const names = Array.from({ length: count }, (_, number) => `too large ${number}`);
  for (const name of names) await stack.upstream.publishRaw(key, body, name);
  const rejected = await onChannel(stack.brokerUrl, (channel) => takeRejected(channel, count));
  const lost = names
    .filter((name) => rejected.get(name) !== `too_large ${REJECTED.bytes}`)
    .map((event) => ({ event, why: `owed: rejected too_large with all its bytes, but ${rejected.get(event)}` }));
  return {
    books: { published: count, balance: { ...NOTHING, rejected: count - lost.length, lost, forked: [] } },
    notes: [peaksOf(stack.stack.services)],
    problems:
      refusal === PRECONDITION_FAILED ? [] : [`the broker took ${REFUSED_BYTES} bytes, or closed with ${refusal}`],
  };
}

/** The code with which the broker closes the channel that so much is published on; 0 where it takes it. */
async function refusedWith(channel: ConfirmChannel, key: string): Promise<number> {
  const refused = new Promise<number>((resolve) => {
    channel.on('error', (error: Error & { code?: number }) => resolve(error.code ?? -1));
  });
  channel.publish('waybell.events', key, Buffer.alloc(REFUSED_BYTES));
  const taken = channel.waitForConfirms().then(() => 0);
  return Promise.race([refused, taken.catch(() => refused)]);
}

/** The reason and the size in bytes of each rejected message, by its id. */
async function takeRejected(channel: ConfirmChannel, count: number): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  await until(
    'all are rejected',
    async () => {
      const message = await channel.get(rejectedQueue, { noAck: true });
      if (message !== false) {
        const reason = String(message.properties.headers?.[waybellHeaders.reason]);
        for (const { messageId, body } of openBatch(readMessage(rejectedQueue, message)))
          found.set(String(messageId), `${reason} ${body.length}`);
      }
      return found.size === count;
    },
    () => found.size,
  );
  return found;
}

/** A path for each, so that each is an endpoint. */
function pathsOf(folder: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${folder}/${number}`);
}

const SUBSCRIBE = `
  insert into waybell.subscriptions (guid, interface, account_guid, action, callback_url, verification_token_sealed,
    verification_token_key_id, client_id)
  select guid, $1, $2, $3, url, sealed, key_id, client
  from unnest($4::uuid[], $5::text[], $6::bytea[], $7::text[], $8::text[]) as each (guid, url, sealed, key_id, client)`;

type ManyClients = { interface: 'shipper' | 'carrier'; action: string; urls: readonly string[] };

/** A new account with a client at each address, subscribed as the API would, all in one statement. */
async function manyClients(
  stack: TestStack,
  { interface: side, action, urls }: ManyClients,
): Promise<{ account: string; subscriptions: string[] }> {
  const { account } = await stack.client(side);
  const keyRing = readKeyRing(readRecord(stackFolder(stack.home)).secretKeys);
  const rows = urls.map((url, number) => {
    const guid = randomUUID();
    return { guid, url, client: String(number), ...keyRing.seal(randomBytes(32).toString('base64url'), guid) };
  });
  await stack.postgres.query(SUBSCRIBE, [
    side,
    account,
    action,
    rows.map(({ guid }) => guid),
    rows.map(({ url }) => url),
    rows.map(({ sealed }) => sealed),
    rows.map(({ keyId }) => keyId),
    rows.map(({ client }) => client),
  ]);
  return { account, subscriptions: rows.map(({ guid }) => guid) };
}

/** A request of which the body was not kept. */
type Measured = { path: string; delivery: string; attempt: number; sha256: string };

/** Receives what is too much to be kept: of each body its hash. `/ok/…` answers 200, `/hang/…` never. */
class MeasuringReceiver implements AsyncDisposable {
  readonly received: Measured[] = [];
  readonly #hanging = new Set<ServerResponse>();
  readonly #server = createServer((request, response) => {
    const [path, hash] = [request.url ?? '', createHash('sha256')];
    request.on('data', (chunk: Buffer) => hash.update(chunk));
    request.on('end', () => {
      const { 'webhook-id': delivery, 'x-webhook-attempt': attempt } = request.headers;
      this.received.push({ path, delivery: String(delivery), attempt: Number(attempt), sha256: hash.digest('hex') });
      if (path.startsWith('/ok/')) return void response.writeHead(200).end();
      this.#hanging.add(response);
      response.on('close', () => this.#hanging.delete(response));
    });
  });
  #port = 0;

  static async start(): Promise<MeasuringReceiver> {
    const receiver = new MeasuringReceiver();
    receiver.#port = (await listen(receiver.#server, { host: '127.0.0.1', port: 0 })).port;
    return receiver;
  }

  /** Requests that have no answer. */
  get hanging(): number {
    return this.#hanging.size;
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.#port}${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await closeServer(this.#server);
  }
}
