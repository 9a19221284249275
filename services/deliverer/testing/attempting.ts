import { isNoResult } from '@waybell/line/messages';
import type { AttemptResult, OnAttempted } from '../request/attempt.ts';

/** Makes requests that are waited for: resolves with the result, or rejects with the error for which there is none. */
export function attempting<R>(call: (request: R, onEnd: OnAttempted) => void): (request: R) => Promise<AttemptResult> {
  return (request) =>
    new Promise((resolve, reject) => {
      call(request, (ended) => (isNoResult(ended) ? reject(ended.error) : resolve(ended)));
    });
}
