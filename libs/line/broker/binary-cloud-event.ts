import { gunzipSync, gzipSync } from 'node:zlib';
import { toUtf8 } from '@waybell/events/to-utf8';
import type { ConsumeMessage } from 'amqplib';

/** Prefixes of attribute headers: the AMQP binding of CloudEvents 1.0 defines the first two, Kafka's and HTTP's the others. */
const ATTRIBUTE = /^(?:cloudEvents[:_]|ce[_-])([a-z0-9]+)$/i;
/** RabbitMQ's own limit on messages; an event that inflates to more is not decoded. */
const LARGEST_BYTES = 16 * 1024 * 1024;
/** Leading white space searched for the beginning of a JSON document, bytes. */
const LONGEST_BLANK = 1_000;

export type Content = { body: Buffer; contentType: string };

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
