import { systemClock } from '@waybell/runtime/clock';
import { createRemoteJWKSet, customFetch, type FetchImplementation } from 'jose';

const KEPT_MS = 600_000;
/** Tokens with an unknown key cause a fetch of the keys at most this often, whatever its result. */
const ASKED_EVERY_MS = 60_000;
/** Without keys no caller can be let in: then they are asked for this often. */
const ASKED_WITHOUT_KEYS_EVERY_MS = 5_000;
const TIMEOUT_MS = 5_000;

/**
 * The keys that an issuer shows under `url` (JWKS), fetched when first needed, kept for ten minutes and fetched again
 * when a token names one that is not there, which is how a rotation is seen. Throws while they cannot be had.
 */
export function issuerKeys(
  url: URL,
  { askedEveryMs = ASKED_EVERY_MS, timeoutMs = TIMEOUT_MS, clock = systemClock } = {},
) {
  let askedAt = -Infinity;

  const fetchSeldom: FetchImplementation = async (address, options) => {
    const now = clock.now();
    if (now < askedAt + (keys.fresh ? askedEveryMs : Math.min(askedEveryMs, ASKED_WITHOUT_KEYS_EVERY_MS))) {
      throw new Error('the keys were asked for a moment ago');
    }
    askedAt = now;
    return fetch(address, options);
  };

  const keys = createRemoteJWKSet(url, {
    cacheMaxAge: KEPT_MS,
    cooldownDuration: askedEveryMs,
    timeoutDuration: timeoutMs,
    [customFetch]: fetchSeldom,
  });
  return keys;
}
