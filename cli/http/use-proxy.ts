import { setGlobalProxyFromEnv } from 'node:http';

type Scheme = 'http' | 'https';

/**
 * Has requests of this process go through the proxy that HTTP_PROXY or HTTPS_PROXY names, but for what NO_PROXY leaves out and for
 * loopback. In lower case as well, as `curl` has them, which then counts. Throws where such a variable names no HTTP proxy; returns what undoes it.
 */
export function useProxy(env: NodeJS.ProcessEnv, hosts: readonly URL[]): () => void {
  const [http, https] = [proxyFor('http', env)?.url, proxyFor('https', env)?.url];
  if (http === undefined && https === undefined) return () => undefined;
  return setGlobalProxyFromEnv({
    ...(http !== undefined && { http_proxy: http.href }),
    ...(https !== undefined && { https_proxy: https.href }),
    no_proxy: leftOut(env, hosts),
  });
}

/** Returns advice for a failed request to `to` that may have gone through a proxy; empty if it did not. */
export function proxyHint(to: URL, env: NodeJS.ProcessEnv): string {
  const proxy = isLoopback(to) ? undefined : proxyFor(schemeOf(to), env);
  if (proxy === undefined) return '';
  return ` (${proxy.name} names the proxy ${proxy.url.host}: NO_PROXY=${to.hostname} would leave it out)`;
}

/** The machine itself, by any of its names and addresses. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(?:(?:.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

const LOOPBACK = ['localhost', '.localhost', '127.0.0.1', '::1', '[::1]'];

/** Neither of Node's two clients knows ranges of addresses in all of its forms: of `hosts`, those that are loopback are named. */
function leftOut(env: NodeJS.ProcessEnv, hosts: readonly URL[]): string {
  const given = (env['no_proxy'] || env['NO_PROXY'] || '').trim();
  if (given === '*') return given;
  return [given, ...LOOPBACK, ...hosts.filter(isLoopback).map(({ hostname }) => hostname)].filter(Boolean).join(',');
}

const schemeOf = ({ protocol }: URL): Scheme => (protocol === 'http:' ? 'http' : 'https');

function proxyFor(scheme: Scheme, env: NodeJS.ProcessEnv): { name: string; url: URL } | undefined {
  // An empty one is none.
  const name = [`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`].find((each) => env[each]);
  if (name === undefined) return undefined;
  const text = env[name] ?? '';
  const url = URL.parse(/^[a-z0-9+.-]+:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error(`${name} names no HTTP proxy: it is to be such as http://proxy.example.com:3128`);
  return { name, url };
}
