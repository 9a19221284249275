import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { types } from 'node:util';
import { errors, Pool } from 'undici';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { OpenAddress } from './connection.ts';

/**
 * Opens connections to addresses through a proxy, by CONNECT. `open` rejects with Unavailable if the proxy cannot be used, with
 * TunnelRefused if it does not reach the address.
 */
export type Tunnel = AsyncDisposable & { open: OpenAddress };

/** The proxy cannot, or will not, connect to that address. */
export class TunnelRefused extends Error {
  readonly code = 'TUNNEL_REFUSED';
  constructor(why: string, cause?: unknown) {
    super(`the proxy does not connect: ${why}`, { cause });
    this.name = 'TunnelRefused';
  }
}

/** Reads CALLBACK_PROXY: undefined if there is none. Throws if it is no http or https address of a host alone. */
export function readProxy(setting: string): URL | undefined {
  if (setting === '') return undefined;
  const url = URL.parse(setting);
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search + url.hash !== '') {
    throw new Error('not the address of a proxy: write it as http://proxy:3128');
  }
  return url;
}

// Each tunnel takes its connection out of undici's pool.
const AWAY = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

/** Opens tunnels by CONNECT (RFC 9110, 9.3.6) to addresses, not names: the proxy must reach the address that was checked here. */
export function tunnelThrough(proxy: URL, connectTimeoutMs: number): Tunnel {
  const pool = new Pool(proxy.origin, { connect: { timeout: connectTimeoutMs }, headersTimeout: 0 });
  const headers = credentials(proxy);

  async function ask(authority: string, signal: AbortSignal): Promise<{ statusCode: number; socket: Duplex }> {
    try {
      return await pool.connect({ path: authority, headers: { ...headers, host: authority }, signal });
    } catch (error) {
      if (signal.aborted) throw new errors.ConnectTimeoutError('no tunnel in time');
      if (isProxyAway(error)) throw new Unavailable('the proxy of CALLBACK_PROXY', () => reach(proxy), error);
      throw new TunnelRefused('it closed the connection', error);
    }
  }

  return {
    async open({ address, family }, port, signal) {
      const { statusCode, socket } = await ask(`${family === 6 ? `[${address}]` : address}:${port}`, signal);
      // undici hands over the connection itself, which its types call a Duplex.
      if (statusCode === 200) return socket as Socket;
      socket.on('error', () => undefined).destroy();
      if (statusCode === 407) throw new Unavailable('the right user in CALLBACK_PROXY', waitForRestart);
      throw new TunnelRefused(`status ${statusCode}`);
    },
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}

function credentials({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` };
}

function isProxyAway(error: unknown): boolean {
  if (error instanceof errors.ConnectTimeoutError) return true;
  return types.isNativeError(error) && 'code' in error && AWAY.has(String(error.code));
}

/** Resolves when the proxy answers, whatever it answers. */
async function reach(proxy: URL): Promise<void> {
  const pool = new Pool(proxy.origin, { connectTimeout: 5_000, headersTimeout: 5_000, bodyTimeout: 5_000 });
  try {
    await pool.request({ method: 'HEAD', path: '/' });
  } finally {
    await pool.destroy();
  }
}

async function waitForRestart(): Promise<never> {
  throw new Error('settings come with a restart');
}
