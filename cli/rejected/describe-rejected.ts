import { isUtf8 } from 'node:buffer';
import type { RejectedMessage } from '@waybell/line/operating/rejected-queue';
import { plainOf } from '@waybell/rejected/selection';
import { factsOf, type RejectedFacts } from '@waybell/rejected/rejected-messages';
import { oneLine, plainText } from '../print.ts';

/** Two lines: id, time, reason, origin, message id and size; and what exactly is wrong. */
export function describeShortly(rejected: RejectedFacts): string[] {
  const { id, rejectedAt, reason, messageId, size, detail } = rejected;
  const columns = [id, rejectedAt.padEnd(24), reason, originOf(rejected), messageId ?? 'no message id', `${size} B`];
  return [columns.join('  '), ...(detail === '' ? [] : [`      ${detail}`])];
}

/** The facts as JSON, with AMQP's names where it has some. */
export function factsInJson({ note, ...facts }: RejectedFacts): Record<string, string | number> {
  return { ...facts, ...(note !== undefined && { correlationId: note }) };
}

/** Everything. A body that is not text is left to --raw. */
export function describeWholly(rejected: RejectedMessage): string {
  const facts = Object.entries(factsInJson(factsOf(rejected))).map(([name, value]) =>
    oneLine(`${name.padEnd(16)}${value}`),
  );
  const { body, contentEncoding } = rejected;
  const plain = plainOf(body);
  const isText = isUtf8(plain) && contentEncoding !== 'gzip';
  const shown = isText ? plain.toString() : 'the body is not text: --raw writes its bytes';
  return [...facts, '', plainText(shown)].join('\n');
}

function originOf({ queue, exchange, routingKey }: RejectedFacts): string {
  // The default exchange has no name, and leads to the queue that the key names.
  const nameless = queue !== '' && queue === routingKey ? 'default exchange' : 'unknown exchange';
  return `${queue || 'unknown queue'} ← ${exchange || nameless} "${routingKey}"`;
}
