import {
  TOKEN_CHECK_MS,
  TOKEN_CHECKS,
  tokenCheckKey,
  type TokenCheck,
  type TokenCheckResult,
} from '@waybell/notifications/receiver-credentials';
import type { Log } from '@waybell/runtime/log';
import type { Postgres } from '@waybell/runtime/postgres';
import type { Redis } from '@waybell/runtime/redis';
import { runEvery } from '@waybell/runtime/run-every';
import type { KeyRing } from '@waybell/runtime/secrets';
import { type AccessTokens, type GivenToken, tokenNeedOf } from './access-tokens.ts';
import { OpenedCredentials } from './credentials.ts';

type TokenChecksOptions = {
  redis: Redis;
  postgres: Pick<Postgres, 'query'>;
  keyRing: KeyRing;
  tokens: Pick<AccessTokens, 'ask'>;
  log: Pick<Log, 'warn'>;
};

type SealedCredentialsRow = { sealed: string; key_id: string };

const FIND = `select encode(sealed, 'base64') as sealed, key_id from waybell.credentials where guid = $1`;

const POLL_MS = 500;

/** Fetches a token for credentials that were just put in, and says what came: one of the deliverers does. */
export function answerTokenChecks({ redis, postgres, keyRing, tokens, log }: TokenChecksOptions): AsyncDisposable {
  const opened = new OpenedCredentials(keyRing);

  async function check({ guid, callbackUrl }: TokenCheck): Promise<TokenCheckResult> {
    const { rows } = await postgres.query<SealedCredentialsRow>(FIND, [guid]);
    const [row] = rows;
    if (row === undefined) return { status: 'not_tried' };
    const credentials = opened.open(guid, { sealed: row.sealed, keyId: row.key_id });
    const need = tokenNeedOf({ callbackUrl, credentials });
    return need === undefined ? { status: 'not_tried' } : resultOf(await tokens.ask(need));
  }

  async function answer(asked: TokenCheck): Promise<void> {
    const result = await check(asked).catch((): TokenCheckResult => ({ status: 'not_tried' }));
    await redis.set(tokenCheckKey(asked.guid), JSON.stringify(result), 'PX', TOKEN_CHECK_MS);
  }

  async function poll(): Promise<void> {
    for (let asked = await redis.lpop(TOKEN_CHECKS); asked !== null; asked = await redis.lpop(TOKEN_CHECKS)) {
      // Only the API writes there. Whoever asked says that there is no answer.
      answer(JSON.parse(asked) as TokenCheck).catch(() => undefined);
    }
  }

  return runEvery(poll, { intervalMs: POLL_MS, warning: 'tokens.not-checked', log });
}

function resultOf(given: GivenToken): TokenCheckResult {
  if (given.kind === 'token') return { status: 'issued' };
  if (given.kind !== 'failed' || given.result.isOurs) return { status: 'not_tried' };
  return { status: 'failed', detail: given.result.body ?? '' };
}
