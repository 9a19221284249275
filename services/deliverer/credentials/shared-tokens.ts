import type { Clock } from '@waybell/runtime/clock';
import { type Log, throttledWarning } from '@waybell/runtime/log';
import type { Redis } from '@waybell/runtime/redis';
import type { KeyRing } from '@waybell/runtime/secrets';

/** An access token: how long it lived when it came, and still lives, in milliseconds. */
export type SharedToken = { token: string; lifeMs: number; leftMs: number };

/**
 * Tokens that deliverers share, by the guid of their credentials. While they cannot be shared, each deliverer has its own. Nothing
 * rejects.
 */
export type SharedTokens = {
  /** Returns the token that is there, and whether this process is the one to fetch another: for a while, or until it shares one. */
  readOrClaim(guid: string): Promise<{ found: SharedToken | undefined; isOursToFetch: boolean }>;
  /** Shares a token that was fetched, or, without one, lets others fetch it. */
  share(guid: string, fetched: SharedToken | undefined): Promise<void>;
};

export type SharedTokensOptions = {
  redis: Redis;
  keyRing: Pick<KeyRing, 'seal' | 'openAfresh'>;
  log: Log;
  clock: Pick<Clock, 'now'>;
};

const PREFIX = 'waybell:token:';
/** Slightly above the limit of a fetch. */
const FETCH_MS = 15_000;
/** Also logged for a token that is encrypted with a key which this process lacks. */
const WARNING = 'tokens.not-shared: each deliverer fetches access tokens for itself';
/** Reads the shared token and claims the fetch, in one step: the last of its answer is 0 while another process fetches. */
const LOOK = `
  local claimed = redis.call('set', KEYS[2], '', 'nx', 'px', ARGV[1])
  return { redis.call('get', KEYS[1]), redis.call('pttl', KEYS[1]), claimed and 1 or 0 }`;

/** Shares tokens by Redis, sealed. */
export function sharedTokensIn({ redis, keyRing, log, clock }: SharedTokensOptions): SharedTokens {
  const warn = throttledWarning(log, WARNING, clock);
  const keysOf = (guid: string) => [PREFIX + guid, `${PREFIX}${guid}:fetch`] as const;

  function opened(guid: string, sealed: string | null, leftMs: number): SharedToken | undefined {
    const [keyId, ciphertext] = sealed?.split(' ') ?? [];
    if (keyId === undefined || ciphertext === undefined) return undefined;
    const { token, lifeMs } = JSON.parse(keyRing.openAfresh({ keyId, sealed: ciphertext }, boundTo(guid)));
    return { token, lifeMs, leftMs };
  }

  return {
    async readOrClaim(guid) {
      try {
        // The form in which the script answers.
        const answer = (await redis.eval(LOOK, 2, ...keysOf(guid), FETCH_MS)) as [string | null, number, number];
        const [sealed, leftMs, isClaimed] = answer;
        return { found: opened(guid, sealed, leftMs), isOursToFetch: isClaimed === 1 };
      } catch (error) {
        warn(error);
        return { found: undefined, isOursToFetch: true };
      }
    },
    async share(guid, fetched) {
      const [key, claim] = keysOf(guid);
      try {
        if (fetched !== undefined && fetched.leftMs > 0) {
          const { token, lifeMs, leftMs } = fetched;
          const { keyId, sealed } = keyRing.seal(JSON.stringify({ token, lifeMs }), boundTo(guid));
          await redis.set(key, `${keyId} ${sealed.toString('base64')}`, 'PX', Math.ceil(leftMs));
        }
        await redis.del(claim);
      } catch (error) {
        warn(error);
      }
    },
  };
}

/** Differs from the binding of the credentials, so that neither can be opened in place of the other. */
const boundTo = (guid: string): string => `token of ${guid}`;
