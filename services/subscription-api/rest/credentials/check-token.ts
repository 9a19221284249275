import { setTimeout as sleep } from 'node:timers/promises';
import {
  TOKEN_CHECK_MS,
  TOKEN_CHECKS,
  tokenCheckKey,
  type TokenCheck,
  type TokenCheckResult,
} from '@waybell/notifications/receiver-credentials';
import type { Redis } from '@waybell/runtime/redis';

const LOOK_MS = 50;
/** A deliverer has taken it after so many. */
const LOOKS_UNTIL_TAKEN = 40;
const NOT_TRIED: TokenCheckResult = { status: 'not_tried' };

/**
 * Has a deliverer fetch a token for credentials that were just put in: token URLs know its addresses, not this process'. Resolves with
 * what came, within twenty seconds; `not_tried` where no deliverer or no Redis is there. Never rejects.
 */
export async function checkToken(redis: Redis, check: TokenCheck): Promise<TokenCheckResult> {
  const asked = JSON.stringify(check);
  try {
    await redis.multi().rpush(TOKEN_CHECKS, asked).pexpire(TOKEN_CHECKS, TOKEN_CHECK_MS).exec();
    for (let looks = 1; looks <= TOKEN_CHECK_MS / LOOK_MS; looks += 1) {
      await sleep(LOOK_MS);
      const result = await redis.get(tokenCheckKey(check.guid));
      // Only deliverers write it.
      if (result !== null) return JSON.parse(result) as TokenCheckResult;
      if (looks === LOOKS_UNTIL_TAKEN && (await redis.lrem(TOKEN_CHECKS, 1, asked)) > 0) return NOT_TRIED;
    }
  } catch {
    // Redis is away, which readiness tells.
  }
  return NOT_TRIED;
}
