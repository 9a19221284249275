import { createHmac } from 'node:crypto';

/** The signed content: the id of the message, the start of this attempt in seconds since 1970, and the bytes of the body. */
export type Signed = { id: string; timestampS: number; body: Buffer };

const PREFIX = 'whsec_';

/**
 * The header `webhook-signature` of Standard Webhooks 1.0: for each secret, `v1,` and the HMAC-SHA256 of
 * `<id>.<timestamp>.<body>` in base64, with blanks between them.
 */
export function signatures(secrets: readonly string[], { id, timestampS, body }: Signed): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestampS}.`).update(body).digest('base64')}`;
    })
    .join(' ');
}
