import { setTimeout as sleep } from 'node:timers/promises';
import {
  TOKEN_CHECK_MS,
  tokenCheckChannel,
  tokenCheckKey,
  type TokenCheck,
  type TokenCheckResult,
} from '@waybell/notifications/receiver-credentials';
import type { Redis } from '@waybell/runtime/redis';

const LOOK_MS = 50;
const NOT_TRIED: TokenCheckResult = { status: 'not_tried' };

/**
 * Has a deliverer fetch a token for credentials that were just put in: token URLs know its addresses, not this process'. Resolves with
 * what came, within twenty seconds; `not_tried` where no deliverer or no Redis is there. Never rejects.
 */
export async function checkToken(redis: Redis, check: TokenCheck): Promise<TokenCheckResult> {
  try {
    const heardBy = await redis.publish(tokenCheckChannel(redis), JSON.stringify(check));
    for (let left = heardBy > 0 ? TOKEN_CHECK_MS / LOOK_MS : 0; left > 0; left -= 1) {
      const result = await redis.get(tokenCheckKey(check.guid));
      // Only deliverers write it.
      if (result) return JSON.parse(result) as TokenCheckResult;
      await sleep(LOOK_MS);
    }
  } catch {
    // Redis is away, which readiness tells.
  }
  return NOT_TRIED;
}
