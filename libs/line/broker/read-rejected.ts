import { createHash } from 'node:crypto';
import type { GetMessage } from 'amqplib';
import { asideHeaders } from './amqp-message.ts';

/** A message of the rejected queue: the original bytes, whence they came and why they lie here. */
export type Rejected = {
  /** Ten hex digits made of the message itself: the same wherever in the queue it stands. */
  id: string;
  reason: string;
  /** What exactly is wrong, in the words of who rejected it; may be empty. */
  detail: string;
  /** ISO 8601; empty where nobody wrote it down. */
  rejectedAt: string;
  /** The queue in which it was found wanting, and where it had been published. */
  queue: string;
  exchange: string;
  routingKey: string;
  messageId?: string;
  type?: string;
  note?: string;
  contentType?: string;
  contentEncoding?: string;
  traceparent?: string;
  body: Buffer;
};

/** Reads a message as the wrapper put it there, or as the broker did, which has words of its own for why. */
export function readRejected({ content, fields, properties }: GetMessage): Rejected {
  const headers: Record<string, unknown> = properties.headers ?? {};
  const said = (name: string) => textOf(headers[name]);
  const death = firstDeath(headers['x-death']);
  const origin = {
    reason: said(asideHeaders.reason) ?? death?.reason ?? 'unknown',
    detail: said(asideHeaders.detail) ?? '',
    rejectedAt: said(asideHeaders.at) ?? '',
    queue: said(asideHeaders.queue) ?? death?.queue ?? '',
    exchange: said(asideHeaders.exchange) ?? death?.exchange ?? fields.exchange,
    routingKey: said(asideHeaders.routingKey) ?? death?.routingKey ?? fields.routingKey,
    messageId: textOf(properties.messageId),
  };
  const identity = createHash('sha256').update(JSON.stringify(origin)).update(content).digest('hex');
  const { messageId, ...others } = origin;
  return {
    id: identity.slice(0, 10),
    ...others,
    ...given('messageId', messageId),
    ...given('type', textOf(properties.type)),
    ...given('note', textOf(properties.correlationId)),
    ...given('contentType', textOf(properties.contentType)),
    ...given('contentEncoding', textOf(properties.contentEncoding)),
    ...given('traceparent', said('traceparent')),
    body: content,
  };
}

type Death = { reason?: string; queue?: string; exchange?: string; routingKey?: string };

function firstDeath(deaths: unknown): Death | undefined {
  const [death]: unknown[] = Array.isArray(deaths) ? deaths : [];
  if (typeof death !== 'object' || death === null) return undefined;
  const members: Record<string, unknown> = { ...death };
  const [routingKey]: unknown[] = Array.isArray(members['routing-keys']) ? members['routing-keys'] : [];
  return {
    ...given('reason', textOf(members['reason'])),
    ...given('queue', textOf(members['queue'])),
    ...given('exchange', textOf(members['exchange'])),
    ...given('routingKey', textOf(routingKey)),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function given<K extends string>(name: K, value: string | undefined): Partial<Record<K, string>> {
  // The key is K by construction; TypeScript widens computed keys to string.
  return value === undefined ? {} : ({ [name]: value } as Partial<Record<K, string>>);
}
