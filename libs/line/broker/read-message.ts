import type { ConsumeMessage } from 'amqplib';
import type { Message } from '../messages.ts';
import { straysExchange, suspectsExchange } from '../topology.ts';

/** Headers of our own, on messages that the wrapper moved aside: whence they came and how they fared. */
export const asideHeaders = {
  queue: 'waybell-queue',
  exchange: 'waybell-exchange',
  routingKey: 'waybell-routing-key',
  failures: 'waybell-failures',
  reason: 'waybell-reason',
  detail: 'waybell-detail',
  at: 'waybell-at',
} as const;

/** Reads what the line needs of a message. Headers that anyone could have written are not believed. */
export function readMessage(queue: string, { content, fields, properties }: ConsumeMessage): Message {
  const headers: Record<string, unknown> = properties.headers ?? {};
  const isSuspect = fields.exchange === suspectsExchange;
  return {
    queue,
    exchange: isSuspect ? text(headers[asideHeaders.exchange]) : fields.exchange,
    routingKey: isSuspect ? text(headers[asideHeaders.routingKey]) : fields.routingKey,
    body: content,
    // The broker writes this header over a forged one, but only once it has taken the message back.
    deliveryCount: fields.redelivered ? wholeNumber(headers['x-delivery-count'], 1) : 0,
    failures: isSuspect ? wholeNumber(headers[asideHeaders.failures], 0) : 0,
    ...given('messageId', properties.messageId),
    ...given('type', properties.type),
    ...given('note', properties.correlationId),
    ...given('contentType', properties.contentType),
    ...given('contentEncoding', properties.contentEncoding),
    ...given('traceparent', headers['traceparent']),
    ...(fields.exchange === straysExchange ? given('deadLetterReason', firstDeath(headers['x-death'])) : {}),
  };
}

function given<K extends string>(name: K, value: unknown): Partial<Record<K, string>> {
  // The key is K by construction; TypeScript widens computed keys to string.
  return typeof value === 'string' ? ({ [name]: value } as Partial<Record<K, string>>) : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function wholeNumber(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : otherwise;
}

function firstDeath(deaths: unknown): unknown {
  const [death]: unknown[] = Array.isArray(deaths) ? deaths : [];
  return typeof death === 'object' && death !== null && 'reason' in death ? death.reason : undefined;
}
