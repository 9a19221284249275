import type { Request } from 'express';
import type { Scope } from '../../tokens.ts';
import { requireScope, type Authenticate, type Caller } from '../authentication/authenticate.ts';
import { Problem } from '../http/problem.ts';

export type KnowingAgain = {
  /** Knows a caller without counting a request. */
  knowAgain: Authenticate;
  knownAgainMs?: number;
};

/** A token that ends has ended its streams within a minute, with time to spare for the look. */
const KNOWN_AGAIN_MS = 45_000;

type StreamReader = KnowingAgain & { request: Request; caller: Caller; scope: Scope };

/** Ends a stream once its token does not hold any more. While that cannot be known, it goes on. */
export function endWithToken(
  stream: { say(comment: string): void; end(): void },
  { request, caller, scope, knowAgain, knownAgainMs = KNOWN_AGAIN_MS }: StreamReader,
): void {
  const look = async () => {
    try {
      const now = await knowAgain(request);
      requireScope(now, scope);
      if (now.accountGuid === caller.accountGuid && now.clientId === caller.clientId) return;
    } catch (error) {
      if (!(error instanceof Problem)) return;
    }
    stream.say('the access token does not hold any more');
    stream.end();
  };
  const looking = setInterval(() => void look(), knownAgainMs);
  request.res?.once('close', () => clearInterval(looking));
}
