import { isUtf8 } from 'node:buffer';
import type { Rejected } from '@waybell/line/broker/rejected-queue';
import { oneLine, plainText } from '../print.ts';
import { plainOf } from './plain-of.ts';

/** Two lines: id, time, reason, origin, message id and size; and what exactly is wrong. */
export function describeShortly(rejected: Rejected): string[] {
  const { id, rejectedAt, reason, messageId, body, detail } = rejected;
  const columns = [
    id,
    rejectedAt.padEnd(24),
    reason,
    originOf(rejected),
    messageId ?? 'no message id',
    `${body.length} B`,
  ];
  return [columns.join('  '), ...(detail === '' ? [] : [`      ${detail}`])];
}

/** Everything but the body, as JSON's own types. */
export function factsOf(rejected: Rejected): Record<string, string | number> {
  const { body, note, cameBefore: _, ...facts } = rejected;
  return { ...facts, ...(note !== undefined && { correlationId: note }), size: body.length };
}

/** Everything. A body that is not text is left to --raw. */
export function describeWholly(rejected: Rejected): string {
  const facts = Object.entries(factsOf(rejected)).map(([name, value]) => oneLine(`${name.padEnd(16)}${value}`));
  const { body, contentEncoding } = rejected;
  const plain = plainOf(body);
  const isText = isUtf8(plain) && contentEncoding !== 'gzip';
  const shown = isText ? plain.toString() : 'the body is not text: --raw writes its bytes';
  return [...facts, '', plainText(shown)].join('\n');
}

function originOf({ queue, exchange, routingKey }: Rejected): string {
  return `${queue || 'unknown queue'} ← ${exchange || 'unknown exchange'} "${routingKey}"`;
}
