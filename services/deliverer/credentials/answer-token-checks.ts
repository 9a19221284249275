import {
  TOKEN_CHECK_MS,
  tokenCheckChannel,
  tokenCheckKey,
  type TokenCheck,
  type TokenCheckResult,
} from '@waybell/notifications/receiver-credentials';
import type { Log } from '@waybell/runtime/log';
import type { Postgres } from '@waybell/runtime/postgres';
import type { Redis } from '@waybell/runtime/redis';
import type { KeyRing } from '@waybell/runtime/secrets';
import type { AccessTokens, GivenToken } from './access-tokens.ts';
import { OpenedCredentials } from './credentials.ts';
import { tokenNeedOf } from './fetch-token.ts';

type TokenChecksOptions = {
  redis: Redis;
  postgres: Pick<Postgres, 'query'>;
  keyRing: KeyRing;
  tokens: Pick<AccessTokens, 'ask'>;
  log: Pick<Log, 'warn'>;
};

type SealedCredentialsRow = { sealed: string; key_id: string };

const FIND = `select encode(sealed, 'base64') as sealed, key_id from waybell.credentials where guid = $1`;

/** Fetches a token for credentials that were just put in, and says what came: one of the deliverers does. */
export function answerTokenChecks({ redis, postgres, keyRing, tokens, log }: TokenChecksOptions): Disposable {
  const opened = new OpenedCredentials(keyRing);

  async function check({ guid, callbackUrl }: TokenCheck, row: SealedCredentialsRow): Promise<TokenCheckResult> {
    const need = tokenNeedOf({
      callbackUrl,
      credentials: opened.open(guid, { sealed: row.sealed, keyId: row.key_id }),
    });
    return need === undefined ? { status: 'not_tried' } : resultOf(await tokens.ask(need));
  }

  async function answer(asked: TokenCheck): Promise<void> {
    const { rows } = await postgres.query<SealedCredentialsRow>(FIND, [asked.guid]);
    const [row] = rows;
    if (row === undefined) return;
    const key = tokenCheckKey(asked.guid);
    if ((await redis.set(key, '', 'PX', TOKEN_CHECK_MS, 'NX')) === null) return;
    const result = await check(asked, row).catch((error: unknown): TokenCheckResult => {
      log.warn({ reason: String(error) }, 'token.not-checked');
      return { status: 'not_tried' };
    });
    await redis.set(key, JSON.stringify(result), 'PX', TOKEN_CHECK_MS);
  }

  // A connection that hears does nothing else. While it is away the other one says so.
  const hearing = redis.duplicate();
  hearing.on('error', () => undefined);
  hearing.on('ready', () => void hearing.subscribe(tokenCheckChannel(redis)).catch(() => undefined));
  // Only the API publishes here.
  hearing.on('message', (_, text) => {
    answer(JSON.parse(text) as TokenCheck).catch((error: unknown) =>
      log.warn({ reason: String(error) }, 'token.not-checked'),
    );
  });
  return { [Symbol.dispose]: () => hearing.disconnect() };
}

function resultOf(given: GivenToken): TokenCheckResult {
  if (given.kind === 'token') return { status: 'issued' };
  if (given.kind !== 'failed' || given.result.isOurs) return { status: 'not_tried' };
  return { status: 'failed', detail: given.result.body ?? '' };
}
