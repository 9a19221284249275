/** The request that a receiver was or will be sent, without secrets; also as a command for a shell. */
import { Type, type Static } from 'typebox';
import type { AttemptEntry, DeliveryEntry } from '@waybell/delivery-log/read/entries';
import { isMade } from '@waybell/delivery-log/read/history';
import { choice, object, only, orNull, text } from './schema.ts';

/** Leaves out credentials: past ones are not stored. */
export const sentRequestSchema = object({
  method: only('POST'),
  url: orNull(text(), 'Values in the query are `***`; null: no request was made yet.'),
  headers: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      'As of the last attempt, but for `User-Agent` and `traceparent`. The verification token and the signature are `***`. Headers of credentials for its host are left out.',
  }),
  body: orNull(text(), 'To the byte, as UTF-8.'),
  body_state: choice(
    ['kept', 'not_sent', 'no_longer_kept'],
    'Why there is no body: nothing was sent so far, or its time is over or it was deleted since.',
  ),
});

export type SentRequest = Static<typeof sentRequestSchema>;

const MASK = '***';

/** Variables for a shell command in place of masked values. */
const SECRET_HEADERS: Partial<Record<string, string>> = {
  'x-service-verification-token': 'VERIFICATION_TOKEN',
  'webhook-signature': 'WEBHOOK_SIGNATURE',
};

/** The request of the last attempt, as the deliverer makes it (docs/receiving.md). */
export function sentRequest({ delivery, attempts }: DeliveryEntry, body: string | undefined): SentRequest {
  const last = attempts.findLast(isMade);
  return {
    method: 'POST',
    url: last?.url ?? null,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'accept-encoding': 'identity',
      'x-service-verification-token': MASK,
      'x-webhook-attempt': String((last ?? attempts.at(-1))?.attempt ?? 1),
      ...(attempts.some(({ byHand }) => byHand === 'test') ? { 'x-webhook-test': 'true' } : {}),
      'webhook-id': delivery,
      ...(last === undefined ? {} : { 'webhook-timestamp': String(beganAtS(last)) }),
      'webhook-signature': MASK,
    },
    body: body ?? null,
    body_state: body === undefined ? (attempts.length === 0 ? 'not_sent' : 'no_longer_kept') : 'kept',
  };
}

const beganAtS = ({ at, durationMs = 0 }: AttemptEntry): number => Math.floor((at - durationMs) / 1_000);

/** The request as a command for a shell, with secrets as variables; null where its body is not known. */
export function asCurl({ url, headers, body }: SentRequest): string | null {
  if (body === null) return null;
  const lines = Object.entries(headers).map(([name, value]) => {
    const secret = SECRET_HEADERS[name];
    return `--header ${quoted(`${name}: ${secret === undefined ? value : ''}`)}${secret === undefined ? '' : variable(secret)}`;
  });
  return [`curl --globoff --request POST ${urlWord(url)}`, ...lines, `--data-raw ${quoted(body)}`].join(' \\\n  ');
}

function urlWord(url: string | null): string {
  if (url === null) return variable('CALLBACK_URL');
  const queryAt = url.indexOf('?');
  if (queryAt === -1) return quoted(url);
  const [first = '', ...others] = url.slice(queryAt).split(MASK);
  const values = others.map((part, index) => `${variable(`QUERY_${index + 1}`)}${part === '' ? '' : quoted(part)}`);
  return [quoted(url.slice(0, queryAt) + first), ...values].join('');
}

const variable = (name: string): string => `"$${name}"`;

/** A word in which a shell expands nothing. */
const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;
