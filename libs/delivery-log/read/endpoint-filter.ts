/** The destination of callbacks: a host, also with its port, an origin, or one URL. */
export type EndpointFilter = {
  /** The host as callback URLs write it. */
  host: string;
  /** Beginnings of their URLs, one of these; null: any port. */
  origins: readonly string[] | null;
  /** The whole URL, without its query; null: any path. */
  url: string | null;
};

/** Longest text of an endpoint, as of a callback URL. */
export const LONGEST_ENDPOINT = 2_048;

/** Reads a host, `host:8443`, an origin or a URL, whose query is left out. Undefined if the text names no host. */
export function readEndpoint(text: string): EndpointFilter | undefined {
  const isUrl = /^https?:\/\//i.test(text);
  const url = URL.parse(isUrl ? text : `https://${text}`);
  if (url === null || url.hostname === '' || url.username + url.password !== '') return undefined;
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(text) || text.length > LONGEST_ENDPOINT) return undefined;
  if (!isUrl && text.includes('://')) return undefined;
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  const isWhole = url.pathname !== '/';
  const origins = isUrl ? [url.origin] : [`https://${url.host}`, `http://${url.host}`];
  return {
    host: url.hostname,
    origins: (isUrl || url.port !== '') && !isWhole ? origins.map((origin) => `${origin}/`) : null,
    url: isWhole ? `${url.origin}${url.pathname}` : null,
  };
}

/** Builds a condition: the URL of the subscription `s` is at the endpoint; each parameter as SQL. An index has current subscriptions by their hosts. */
export const isAtEndpoint = (host: string, origins: string, url: string): string =>
  `waybell.host_of(s.callback_url) = ${host}
   and (${origins}::text[] is null or exists (select from unnest(${origins}::text[]) o where starts_with(s.callback_url, o)))
   and (${url}::text is null or lower(split_part(s.callback_url, '?', 1)) = lower(${url}))`;
