/** Writes messages to AMQP and reads them from it; CloudEvents in binary mode are read as structured JSON. */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { ConsumeMessage, Options } from 'amqplib';
import { toUtf8 } from '@waybell/events/read-event';
import { waybellHeaders, type Death, type Message, type Publication } from '../messages.ts';
import { isSuspectsQueue, rejectedQueue, straysExchange, suspectsExchange } from '../topology.ts';

type ReadParts = Pick<ConsumeMessage, 'content' | 'properties'> & {
  fields: Pick<ConsumeMessage['fields'], 'exchange' | 'routingKey' | 'redelivered'>;
};

const NO_HEADERS = {};

const WORTH_COPYING = 4;

type Text =
  | 'messageId'
  | 'type'
  | 'note'
  | 'contentType'
  | 'contentEncoding'
  | 'traceparent'
  | 'traceparents'
  | 'userId';

/** Reads the parts of a message that the line needs. Ignores headers that any publisher could have written. */
export function readMessage(queue: string, { content, fields, properties }: ReadParts): Message {
  const headers: Record<string, unknown> = properties.headers ?? NO_HEADERS;
  const isSuspect = fields.exchange === suspectsExchange;
  const death = fields.exchange === straysExchange ? deathIn(headers['x-death'], 0) : undefined;
  const wasRejected = death?.queue === rejectedQueue;
  // The broker itself dead-lettered it into the rejected queue.
  const before = wasRejected ? deathIn(headers['x-death'], 1) : undefined;
  const wasAside = isSuspect || wasRejected || isSuspectsQueue(death?.queue);
  const message: Message = {
    queue: wasRejected ? text(headers[waybellHeaders.queue]) || (before?.queue ?? '') : queue,
    exchange: wasAside
      ? text(headers[waybellHeaders.exchange]) || (before?.exchange ?? '')
      : (death?.exchange ?? fields.exchange),
    routingKey: wasAside ? text(headers[waybellHeaders.routingKey]) || (before?.routingKey ?? '') : fields.routingKey,
    body: ownBytes(content),
    // The broker overwrites a forged header, but only on redelivery.
    deliveryCount: fields.redelivered ? wholeNumber(headers['x-delivery-count'], 1) : 0,
    failures: isSuspect ? wholeNumber(headers[waybellHeaders.failures], 0) : 0,
  };
  copy(message, 'messageId', properties.messageId);
  copy(message, 'type', properties.type);
  copy(message, 'note', properties.correlationId);
  copy(message, 'contentType', properties.contentType);
  copy(message, 'contentEncoding', properties.contentEncoding);
  const structured = headers === NO_HEADERS ? undefined : structuredContent({ content, properties });
  if (structured !== undefined) Object.assign(message, structured);
  copy(message, 'userId', wasAside ? headers[waybellHeaders.user] : properties.userId);
  if (headers !== NO_HEADERS) {
    copy(message, 'traceparent', headers['traceparent']);
    copy(message, 'traceparents', headers['traceparents']);
    if (headers[waybellHeaders.cameBefore] === 1) message.cameBefore = true;
    if (headers[waybellHeaders.mayWait] === 1) message.mayWait = true;
  }
  if (isSuspect) message.isSuspect = true;
  if (death !== undefined) {
    const { reason, queue: diedIn, isOfPublisher } = death;
    message.death = { reason, queue: diedIn, isOfPublisher };
    if (wasRejected)
      message.death.rejected = {
        reason: text(headers[waybellHeaders.reason]) || (before?.reason ?? 'unknown'),
        detail: text(headers[waybellHeaders.detail]),
        at: text(headers[waybellHeaders.at]),
      };
  }
  return message;
}

/** Copies the bytes if their underlying buffer is much larger, so that keeping them does not keep the whole chunk in memory. */
function ownBytes(bytes: Buffer): Buffer {
  return bytes.length * WORTH_COPYING < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes;
}

function copy(message: Message, member: Text, value: unknown): void {
  if (typeof value === 'string') message[member] = value;
}

/** Reads an entry of `x-death`: reason, queue, and the exchange and key it was published with. Place 0 is the latest. */
function deathIn(deaths: unknown, place: number): (Death & { exchange: string; routingKey: string }) | undefined {
  const death: unknown = Array.isArray(deaths) ? deaths[place] : undefined;
  if (typeof death !== 'object' || death === null || !('reason' in death) || !('exchange' in death)) return undefined;
  const keys: unknown = 'routing-keys' in death ? death['routing-keys'] : [];
  return {
    reason: text(death.reason),
    exchange: text(death.exchange),
    queue: 'queue' in death ? text(death.queue) : '',
    routingKey: Array.isArray(keys) ? text(keys[0]) : '',
    isOfPublisher: 'original-expiration' in death,
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function wholeNumber(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : otherwise;
}

/** Properties of a publication: persistent, and returned by the broker if no queue is bound (`mandatory`). */
export function publishOptions(publication: Publication): Options.Publish {
  const { messageId, type, note, contentType, contentEncoding, userId, headers } = publication;
  const options: Options.Publish = { persistent: true, mandatory: true };
  if (messageId !== undefined) options.messageId = messageId;
  if (type !== undefined) options.type = type;
  if (note !== undefined) options.correlationId = note;
  if (contentType !== undefined) options.contentType = contentType;
  if (contentEncoding !== undefined) options.contentEncoding = contentEncoding;
  if (userId !== undefined) options.userId = userId;
  if (headers !== undefined) options.headers = headers;
  return options;
}

/** Prefixes of attribute headers: the AMQP binding of CloudEvents 1.0 defines the first two, Kafka's and HTTP's the others. */
const ATTRIBUTE = /^(?:cloudEvents[:_]|ce[_-])([a-z0-9]+)$/i;
/** RabbitMQ's own limit on messages; an event that inflates to more is not decoded. */
const LARGEST_BYTES = 16 * 1024 * 1024;
/** Leading white space searched for the beginning of a JSON document, bytes. */
const LONGEST_BLANK = 1_000;

type Content = { body: Buffer; contentType: string };

/**
 * Converts a CloudEvent in binary mode (attributes in headers, data in the body) to structured JSON, so that everything after it reads
 * one form. Keeps the bytes of the data, re-encoded as UTF-8; data that does not begin like JSON goes into `data_base64`. Sorts the
 * attributes by name, so that the same event gives the same bytes. Returns undefined if the message is no binary CloudEvent, or if its
 * bytes cannot be decoded: the event reader then reports why.
 */
export function structuredContent({
  content,
  properties,
}: Pick<ConsumeMessage, 'content' | 'properties'>): Content | undefined {
  const headers: Record<string, unknown> = properties.headers ?? {};
  const attributes = attributesIn(headers);
  if (!attributes.has('specversion') || isStructured(properties.contentType)) return undefined;
  const isGzip = isText(properties.contentEncoding) && properties.contentEncoding.trim().toLowerCase() === 'gzip';
  const unpacked = isGzip ? inflated(content) : content;
  const data = unpacked === undefined ? undefined : toUtf8(unpacked);
  if (data?.kind !== 'bytes') return undefined;
  if (isText(properties.contentType)) attributes.set('datacontenttype', properties.contentType);
  const members = [...attributes].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const head = members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`).join('');
  const body = Buffer.concat([Buffer.from(`{${head}`), ...dataMember(data.bytes), Buffer.from('}')]);
  return { body: isGzip ? gzipSync(body) : body, contentType: 'application/cloudevents+json' };
}

function dataMember(data: Buffer): Buffer[] {
  if (/^\s*["{[]/.test(data.toString('latin1', 0, LONGEST_BLANK))) return [Buffer.from('"data":'), data];
  return [Buffer.from(`"data_base64":"${data.toString('base64')}"`)];
}

/** Reads the attribute headers; the last of the same name wins. Ignores a header named `data`. */
function attributesIn(headers: Record<string, unknown>): Map<string, string | number | boolean> {
  const attributes = new Map<string, string | number | boolean>();
  for (const name in headers) {
    const [, attribute] = ATTRIBUTE.exec(name) ?? [];
    const value = plain(headers[name]);
    if (attribute !== undefined && value !== undefined) attributes.set(attribute.toLowerCase(), value);
  }
  attributes.delete('data');
  return attributes;
}

/** Converts an AMQP timestamp, which has whole seconds, to ISO 8601. */
function plain(value: unknown): string | number | boolean | undefined {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  const isTimestamp = typeof value === 'object' && value !== null && '!' in value && value['!'] === 'timestamp';
  if (!isTimestamp || !('value' in value) || typeof value.value !== 'number') return undefined;
  const date = new Date(value.value * 1_000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Returns undefined if it is no gzip stream or inflates to too much. */
function inflated(gzip: Buffer): Buffer | undefined {
  try {
    return gunzipSync(gzip, { maxOutputLength: LARGEST_BYTES });
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isStructured = (contentType: unknown): boolean =>
  isText(contentType) && /^\s*application\/cloudevents/i.test(contentType);
