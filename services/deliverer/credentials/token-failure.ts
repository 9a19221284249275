import type { AttemptResult } from '../request/attempt.ts';
import type { TokenUrlAnswer } from '../request/call-token-url.ts';
import { isTimeout } from '../endpoints/response-speed.ts';
import { excerpt } from '../request/excerpt.ts';

/** The same limit as for any stored answer. */
const KEPT_BYTES = 4 * 1024;
/** Matches a token in JSON, even quoted in other JSON, in XML or in a form, or in text that looks like one of them. */
const TOKENS = /((?:access|refresh|id)_token[\\"']{0,4}\s?[:=>]\s?[\\"']{0,4})[^\\"'&\s<>,}]+/gi;

/**
 * The result of an attempt without a request, as there is no token: with what the token URL answered, without secrets, but without its
 * status and address, which are not the receiver's. `broken`: why a token that came cannot be used; `hint`: what may be tried.
 */
export function tokenFailure({ result }: TokenUrlAnswer, { broken, hint = '' }: TokenFault): AttemptResult {
  const { durationMs, reason, tooMuch, isOurs } = result;
  return {
    isDelivered: false,
    reason: 'credentials_unavailable',
    durationMs,
    body: `${excerpt([Buffer.from(said(result, broken)).subarray(0, KEPT_BYTES - hint.length)])}${hint}`,
    ...(tooMuch && { tooMuch }),
    ...(isOurs && { isOurs }),
    ...(isTimeout(reason) && { isHung: true }),
  };
}

type TokenFault = { broken?: string; hint?: string };

function said(result: AttemptResult, broken: string | undefined): string {
  const { url = '', status, reason, brokenRule, error = '', body = '' } = result;
  const tokenUrl = `The token URL ${url}`.trimEnd();
  // The body of a success has a token.
  if (broken !== undefined) return `${tokenUrl} answered ${status}, which cannot be used: ${broken}`;
  const shown = body === '' ? '' : `: ${body.replaceAll(TOKENS, '$1***')}`;
  if (status !== undefined) return `${tokenUrl} answered ${status}${shown}`;
  if (brokenRule !== undefined) return `${tokenUrl} gave no response of HTTP, as ${brokenRule}${shown}`;
  return `${tokenUrl} could not be reached, or did not answer: ${reason}${error && ` (${error})`}${shown}`;
}
