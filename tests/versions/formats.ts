import type { ConsumeMessage } from 'amqplib';
import { endpointKey } from '@waybell/deliverer/flow/endpoint';
import { onceOf } from '@waybell/deliverer/deliver-step';
import { readArrival } from '@waybell/event-router/route-event';
import { routeStep } from '@waybell/event-router/router-steps';
import { readTimestamp } from '@waybell/events/timestamp';
import { readMessage } from '@waybell/line/broker/amqp-message';
import { asSent, joinDeliveries, openBatch, readRow as readProperties, writeRow } from '@waybell/line/delivery-batch';
import {
  asWaited,
  publishDelivery,
  publishInstead,
  publishRetry,
  publishWaiting,
  readDelivery,
  wait,
} from '@waybell/line/delivery';
import { publishEnds, readEnds, publishOutcomes, readBatch, writeOutcomes } from '@waybell/line/outcome-batch';
import { publishAlone, publishRejected, publishSuspect } from '@waybell/line/hand-over/suspicion';
import { readProperties as readPublication, writeProperties } from '@waybell/line/outbox/postgres-outbox';
import { type CarriedDelivery, isRejection, reject, type Message, type Publication } from '@waybell/line/messages';
import { publishAnnouncement } from '@waybell/location-tracker/announcement';
import { readVehicle, writeVehicle } from '@waybell/location-tracker/remembered-vehicles';
import { messageGuid } from '@waybell/notifications/notification';
import { publishNotice } from '@waybell/rejected/reject-event';
import { readKeyRing } from '@waybell/runtime/secrets';
import { ACCOUNT, AT, ends, EVENT, full, outcomes, plain, SUBSCRIPTION, unknownVehicle, vehicle } from './facts.ts';

/** Something that one process writes and another reads, perhaps of another version. */
export type Format = {
  name: string;
  write: () => string;
  /** It is another text each time: what was written once is read for ever. */
  isRandom?: true;
  /** Absent where nothing but the same text will do. */
  reading?: Reading;
};

type Reading = {
  read: (text: string) => unknown;
  means: unknown;
  /** Changes of the text by a later version that this version must read the same, or with the given meaning. */
  added?: { as: (text: string) => string; means?: unknown }[];
  /** The text with the next number; absent where there is none. */
  newer?: (text: string) => string;
};

/** Bytes as text, one character each. */
const asText = (bytes: Buffer): string => bytes.toString('latin1');
const asBytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const asLines = (publication: Publication): string =>
  JSON.stringify({ ...publication, body: asText(publication.body) }, null, 1);

/** Returns the message as it arrives by that exchange. */
function arrived(text: string, messageId?: string): Message {
  const { exchange, routingKey, body, headers, note, ...properties } = JSON.parse(text);
  const given = messageId === undefined ? properties : { ...properties, messageId };
  // The part of the client's message that the line reads.
  const message = {
    content: asBytes(body),
    fields: { exchange, routingKey },
    properties: { ...given, correlationId: note, headers },
  };
  return readMessage('q', message as unknown as ConsumeMessage);
}

const withNote = (change: (note: string) => string) => (text: string) => {
  const { note, ...rest } = JSON.parse(text);
  return JSON.stringify({ ...rest, note: change(note) });
};
const withBody = (change: (body: string) => string) => (text: string) => {
  const { body, ...rest } = JSON.parse(text);
  return JSON.stringify({ ...rest, body: change(body) });
};

const nextVersion = (body: string): string =>
  body.replace(/"version":(\d+)/, (_, number) => `"version":${Number(number) + 1}`);

/** One more member of the whole, and one of each of its rows, behind all that a row may have. */
const widen = (name: string, width: number) => (body: string) => {
  const [head = '', ...rest] = body.split('\n');
  const { [name]: rows, ...others } = JSON.parse(head);
  const wider = rows.map((row: unknown[]) => [...row, ...Array(Math.max(0, width - row.length)).fill(null), 'hot']);
  return [JSON.stringify({ lane: 'hot', ...others, [name]: wider }), ...rest].join('\n');
};

/** One more member of the whole, and one of each of its records. */
function withLane(body: string): string {
  const [head = '', ...rest] = body.split('\n');
  const { outcomes: records, ...others } = JSON.parse(head);
  const wider = records.map((record: object) => ({ ...record, lane: 'hot' }));
  return [JSON.stringify({ lane: 'hot', ...others, outcomes: wider }), ...rest].join('\n');
}

const HEADER = (text: string): string =>
  JSON.stringify({ ...JSON.parse(text), headers: { ...JSON.parse(text).headers, 'waybell-lane': 'hot' } });
const LATER = ' lane hot';
const next = (note: string): string => note.replace(/^\d+/, (number) => String(Number(number) + 1));

/** With other notes of the members of a batch. */
const withNotes = (change: (note: unknown[]) => unknown[]) =>
  withBody((body) => {
    const [notes = '', ...bodies] = body.split('\n');
    return [JSON.stringify(JSON.parse(notes).map(change)), ...bodies].join('\n');
  });
const withMemberNote = (change: (note: string) => string) =>
  withNotes(([guid, note, ...others]) => [guid, change(String(note)), ...others]);

/** The form in which it leaves the process. The message id of a batch differs each time. */
const asBatch = (publication: Publication): Publication => ({ ...asSent(publication), messageId: 'a-batch' });
const readBatchOf = (text: string) => openBatch(arrived(text)).map((each) => readDelivery(each));

/** A delivery as the next version writes it, with what the version after that may add. */
const named = (carried: CarriedDelivery) => ({ lane: 'hot', ...carried, body: undefined });

/** The batch as the next version writes it. */
const asNext = (deliveries: readonly CarriedDelivery[]) => (text: string) => {
  const { note, body, ...rest } = JSON.parse(text);
  const [heads = '', ...bodies] = body.split('\n');
  const places: [unknown, unknown, number, number][] = JSON.parse(heads);
  const members = deliveries.map((each, at) => ({ ...named(each), offset: places[at]?.[2], length: places[at]?.[3] }));
  return JSON.stringify({ ...rest, note: next(note), body: [JSON.stringify(members), ...bodies].join('\n') });
};

function delivery(
  name: string,
  publication: () => Publication,
  means: CarriedDelivery & { mayWait?: boolean },
): Format {
  const { mayWait: _, ...carried } = means;
  return {
    name,
    write: () => asLines(asBatch(publication())),
    reading: {
      read: (text) => readBatchOf(text)[0],
      means,
      added: [{ as: withMemberNote((note) => `${note}${LATER}`) }, { as: HEADER }, { as: asNext([carried]) }],
      newer: withMemberNote(next),
    },
  };
}

const several = [plain, { ...full, interface: plain.interface, attempt: 3 }, { ...plain, guid: EVENT }];
const batchOfSeveral = (): Publication => {
  const [made] = joinDeliveries(several.map((each) => ({ publication: publishDelivery(each) })));
  if (made === undefined) throw new Error('nothing was joined');
  return { ...made.publication, messageId: 'a-batch' };
};

const ROOM = { room: endpointKey({ account: ACCOUNT, callbackUrl: 'https://a.test/hook' }).endpoint, account: ACCOUNT };
const buffered = asSent(publishRetry(full, 60_000));
/** A row of an outbox; or of release 0.3.0, which has the delivery's body. */
function readBuffered(text: string): unknown {
  const { body } = JSON.parse(text);
  const { exchange, routingKey, ...publication } = readPublication(
    text,
    body === undefined ? full.body : asBytes(body),
  );
  const deliveries = readBatchOf(asLines({ exchange, routingKey, ...publication }));
  return { exchange, routingKey, deliveries };
}
const waiting = wait({ ...full, room: ROOM }, { why: 'egress', afterMs: 1_000 });
/** The form of a row in its room: its columns, and the members of its properties. */
function rowText(): string {
  const { delivery: carried, ...row } = waiting.row;
  return JSON.stringify({ ...row, ...JSON.parse(writeRow(carried)), body: asText(carried.body) }, null, 1);
}
function readRow(text: string): unknown {
  const { room, madeAt, id, why, body } = JSON.parse(text);
  const content = readProperties(text, asBytes(body));
  const row = { room, madeAt, id, no: 0, why, content };
  return readDelivery(asWaited(row, { crashes: 0, isOverLimit: false }));
}
/** The row as the next version writes it. */
function asNextRow(text: string): string {
  const { room, madeAt, id, account, why, afterMs, body } = JSON.parse(text);
  return JSON.stringify({ ...named(full), room, madeAt, id, account, why, afterMs, body });
}
const waited = { ...full, waited: { room: ROOM.room, why: 'egress' } };

const only = (text: string): Message => {
  const [message] = openBatch(arrived(text));
  if (message === undefined) throw new Error('a batch of none');
  return message;
};
const suspect: Message = {
  ...only(asLines(asBatch(publishDelivery(full)))),
  queue: 'waybell.deliveries.shipper.order.created',
  userId: 'tms',
  failures: 2,
};
const origin = { routingKey: suspect.routingKey, exchange: suspect.exchange, userId: 'tms' };
const asideOf = { isSuspect: true, ...origin };

const partOf = (message: Message, names: string[]) =>
  Object.fromEntries(Object.entries(message).filter(([name]) => names.includes(name)));

function aside(name: string, publication: () => Publication, means: object): Format {
  const read = (text: string) => partOf(only(text), Object.keys(means));
  return { name, write: () => asLines(asBatch(publication())), reading: { read, means, added: [{ as: HEADER }] } };
}

const manyOutcomes = Array.from({ length: 10 }, () => outcomes).flat();
const RING = readKeyRing(`k:${Buffer.alloc(32, 7).toString('base64')}`);
const occurredAt = readTimestamp('2026-11-20T09:30:00.123456Z') ?? { second: '', nanoseconds: '' };

/** Returns the router's mark of a routed event. */
function eventMark(): string {
  const config = {
    inHandLimit: { messages: 1, bytes: 1 },
    eventLimits: { maxBytes: 2 ** 20, maxDepth: 32 },
    passesTraceparent: false,
    rememberMs: 1,
  };
  const event = `{"guid":"${EVENT}","interface":"shipper","action":"order.paid","occurred_at":"2026-11-20T09:30:00Z","parties":{"shipper":"${ACCOUNT}"},"payload":{"order_guid":"${EVENT}"}}`;
  const message = { ...suspect, messageId: EVENT, routingKey: 'shipper.order.paid', body: Buffer.from(event) };
  const arrival = readArrival(config.eventLimits)(message);
  if (isRejection(arrival)) throw new Error(arrival.detail);
  const { once } = routeStep({ config, findSubscriptions: async () => [], now: () => AT });
  return JSON.stringify(once?.keyOf(arrival));
}

export const formats: Format[] = [
  delivery('delivery', () => publishDelivery(plain), plain),
  delivery('delivery with all that there is', () => publishDelivery(full), full),
  delivery('retry', () => publishRetry(full, 60_000), full),
  delivery('delivery that waits', () => publishWaiting(full), { ...full, mayWait: true }),
  delivery('delivery that no room takes', () => publishInstead(waiting), { ...full, mayWait: true }),
  {
    name: 'several deliveries',
    write: () => asLines(batchOfSeveral()),
    reading: {
      read: readBatchOf,
      means: several,
      added: [
        { as: withNote((note) => `${note}${LATER}`) },
        { as: withNotes((note) => [...note, ...Array(5 - note.length).fill(null), { lane: 'hot' }]) },
        { as: asNext(several) },
      ],
    },
  },
  {
    name: 'batch of deliveries',
    write: () => asLines(asBatch(publishDelivery(plain))),
    reading: { read: (text) => readBatchOf(text)[0], means: plain, newer: withNote((note) => next(next(note))) },
  },
  {
    name: 'ends',
    write: () => asLines(publishEnds(ends)),
    reading: {
      read: (text) => readEnds(arrived(text)),
      means: ends,
      added: [{ as: withBody(widen('ends', 7)) }],
      newer: withBody(nextVersion),
    },
  },
  {
    name: 'outcomes',
    write: () => asLines({ ...publishOutcomes(outcomes), body: writeOutcomes(outcomes) }),
    reading: {
      read: (text) => readBatch(arrived(text)),
      means: outcomes,
      added: [{ as: withBody(withLane), means: outcomes.map((each) => ({ ...each, lane: 'hot' })) }],
      newer: withBody(nextVersion),
    },
  },
  {
    name: 'outcomes, compressed',
    // A later version of the library may compress better.
    isRandom: true,
    write: () => asText(publishOutcomes(manyOutcomes).body),
    reading: { read: (text) => readBatch({ body: asBytes(text) }), means: manyOutcomes },
  },
  {
    name: 'row of a delivery that waits',
    write: rowText,
    reading: {
      read: readRow,
      means: waited,
      added: [{ as: withNote((note) => `${note}${LATER}`) }, { as: asNextRow }],
      newer: withNote(next),
    },
  },
  {
    name: 'row of a publication that waits',
    // The message id of a batch differs each time.
    isRandom: true,
    write: () => JSON.stringify({ ...JSON.parse(writeProperties(buffered)), body: asText(buffered.body) }),
    reading: {
      read: readBuffered,
      means: { exchange: buffered.exchange, routingKey: buffered.routingKey, deliveries: [full] },
      added: [{ as: (text) => text.replace('{', '{"lane":"hot",') }],
    },
  },
  { name: 'mark of an attempt', write: () => JSON.stringify(onceOf({ rememberMs: 1 }).keyOf(full)) },
  { name: 'mark of an event', write: eventMark },
  {
    name: 'vehicle',
    write: () => writeVehicle(vehicle),
    reading: {
      read: (text) => readVehicle(text).vehicle,
      means: vehicle,
      added: [{ as: (text) => `${text} 88.5` }],
    },
  },
  {
    name: 'vehicle of which nothing is known',
    write: () => writeVehicle(unknownVehicle),
    reading: { read: (text) => readVehicle(text).vehicle, means: unknownVehicle },
  },
  { name: 'guid of a message', write: () => messageGuid(EVENT, SUBSCRIPTION) },
  {
    name: 'endpoint',
    write: () => endpointKey({ account: ACCOUNT, callbackUrl: 'https://a.test:8443/hook?x=1' }).endpoint,
  },
  {
    name: 'sealed secret',
    isRandom: true,
    write: () => asText(RING.seal('tökén', SUBSCRIPTION).sealed),
    reading: { read: (text) => RING.open({ sealed: asBytes(text), keyId: 'k' }, SUBSCRIPTION), means: 'tökén' },
  },
  aside('suspect', () => publishSuspect(suspect, 'deliverer', 3), { ...asideOf, failures: 3, delivery: full }),
  aside('member of a batch, sent alone', () => publishAlone(suspect), { cameBefore: true, delivery: full }),
  aside('rejected message', () => publishRejected(suspect, reject('expired', 'why'), AT), { delivery: full }),
  {
    name: 'notice',
    write: () =>
      asLines(
        publishNotice(
          {
            guid: EVENT,
            interface: 'carrier',
            action: 'order.created',
            reason: 'payload_invalid',
            place: '/payload',
            detail: 'why',
            nearest: null,
            message_id: EVENT,
            routing_key: 'k',
            rejected_at: '2026-11-20T09:30:00Z',
          },
          'tms',
        ),
      ),
  },
  {
    name: 'announcement of a vehicle',
    write: () => {
      const payload = { vehicle_guids: [SUBSCRIPTION], gps_active: true };
      const action = 'vehicle.gps_activated';
      return asLines(publishAnnouncement({ cause: EVENT, action, occurredAt, shipper: ACCOUNT, payload }));
    },
  },
];
