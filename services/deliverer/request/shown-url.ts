/**
 * A callback URL for people who look into what was sent: without what may be a secret, which are its user, its fragment
 * and the values of its query, those included that stand there without a name.
 */
export function shownUrl({ origin, pathname, search }: URL): string {
  if (search === '') return origin + pathname;
  return `${origin}${pathname}?${search.slice(1).split('&').map(withoutValue).join('&')}`;
}

function withoutValue(parameter: string): string {
  return `${parameter.slice(0, parameter.indexOf('=') + 1)}***`;
}
