import type { AttemptEntry, DeliveryEntry } from '@waybell/delivery-log/read/entries';
import { isMade } from '@waybell/delivery-log/read/history';

/** The request that a receiver was or will be sent, without secrets. Leaves out credentials: past ones are not stored. */
export type SentRequest = {
  method: 'POST';
  /** Null while no attempt was made. */
  url: string | null;
  headers: Record<string, string>;
  body: string | null;
  body_state: 'kept' | 'not_sent' | 'no_longer_kept';
};

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
  const values = others.map((text, index) => `${variable(`QUERY_${index + 1}`)}${text === '' ? '' : quoted(text)}`);
  return [quoted(url.slice(0, queryAt) + first), ...values].join('');
}

const variable = (name: string): string => `"$${name}"`;

/** A word that no shell reads anything into. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
