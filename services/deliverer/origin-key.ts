import type { Target } from './find-target.ts';
import type { OriginKey } from './windows/origin.ts';

/** What has a window of its own: an endpoint's scheme, host and port, for one account. */
export function originKey({ account, callbackUrl }: Pick<Target, 'account' | 'callbackUrl'>): OriginKey {
  // By hand: parsing a URL for each attempt would cost more than everything else that is done with it here.
  const afterScheme = callbackUrl.indexOf('//') + 2;
  const end = callbackUrl.slice(afterScheme).search(/[/?#]/);
  const origin = end === -1 ? callbackUrl : callbackUrl.slice(0, afterScheme + end);
  return { account, origin };
}
