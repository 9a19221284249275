/**
 * Formats a callback URL for people: without its user, its fragment and all values of its query, including those without a name,
 * because they may be secret.
 */
export function shownUrl(url: URL): string {
  // Most have none of these: no new string is made for them.
  if (!/[?#@]/.test(url.href)) return url.href;
  const { origin, pathname, search } = url;
  if (search === '') return origin + pathname;
  return `${origin}${pathname}?${search.slice(1).split('&').map(withoutValue).join('&')}`;
}

function withoutValue(parameter: string): string {
  return `${parameter.slice(0, parameter.indexOf('=') + 1)}***`;
}
