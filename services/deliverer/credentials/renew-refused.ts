import type { CallEndpoint } from '../request/call-endpoint.ts';
import type { AccessTokens } from './access-tokens.ts';
import { tokenNeedOf } from './fetch-token.ts';

const UNAUTHORIZED = 401;

/**
 * Makes the request once more, with another token, if the receiver answers 401; the result of the second counts. Without another token,
 * the attempt fails for that.
 */
export function renewingRefused(callEndpoint: CallEndpoint, tokens: Pick<AccessTokens, 'renew'>): CallEndpoint {
  return (request, onEnd) => {
    const { accessToken, credentials } = request;
    const need = accessToken === undefined ? undefined : tokenNeedOf(request);
    if (accessToken === undefined || need === undefined || credentials === undefined)
      return callEndpoint(request, onEnd);
    callEndpoint(request, (ended) => {
      if (ended instanceof Error || ended.status !== UNAUTHORIZED) return onEnd(ended);
      void tokens.renew(need, accessToken).then((renewed) => {
        if (renewed === undefined || renewed.kind === 'closing') return onEnd(ended);
        if (renewed.kind === 'failed') return onEnd(renewed.result);
        if (renewed.kind === 'error') return onEnd(renewed.error);
        try {
          // Its answer may still name the token that it refused.
          const knowing = { ...credentials, secrets: [...credentials.secrets, accessToken] };
          callEndpoint({ ...request, credentials: knowing, accessToken: renewed.token }, onEnd);
        } catch (error) {
          onEnd(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
  };
}
