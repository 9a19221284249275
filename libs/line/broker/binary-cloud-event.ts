import { gunzipSync, gzipSync } from 'node:zlib';
import { toUtf8 } from '@waybell/events/to-utf8';
import type { ConsumeMessage } from 'amqplib';

/** The spellings that publishers use: the AMQP binding of CloudEvents 1.0 has the first two, those of Kafka and of HTTP the others. */
const ATTRIBUTE = /^(?:cloudEvents[:_]|ce[_-])([a-z0-9]+)$/i;
/** RabbitMQ takes no larger message, and so no event inflates to more. */
const LARGEST_BYTES = 16 * 1024 * 1024;
/** Nobody writes more white space before a document. */
const LONGEST_BLANK = 1_000;

export type Content = { body: Buffer; contentType: string };

/**
 * A CloudEvent in binary mode, whose attributes are headers and whose body is its data, as the same event in structured JSON: from
 * here on there is one form, which needs no headers. The data's bytes are as they were, but in UTF-8; what does not begin as JSON goes
 * into `data_base64`, as the JSON format has it. Attributes come in the order of their names, so that the same event has the
 * same bytes. Undefined where the message is no such event, or what reads events says what is wrong with its bytes.
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

/** The last of a name counts. `data` is no attribute, whatever a header says. */
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

/** A timestamp of AMQP has whole seconds. */
function plain(value: unknown): string | number | boolean | undefined {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  const isTimestamp = typeof value === 'object' && value !== null && '!' in value && value['!'] === 'timestamp';
  if (!isTimestamp || !('value' in value) || typeof value.value !== 'number') return undefined;
  const date = new Date(value.value * 1_000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Undefined where it is no gzip stream, or too large. */
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
