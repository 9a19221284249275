import { isIP, Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { Clock } from '@waybell/runtime/clock';
import { withoutRootDot, type ResolveHost } from '@waybell/runtime/names/resolve-host';
import { isForbiddenPort, isForbiddenAddress, type CallbackNetworks } from '@waybell/runtime/networks';
import { connectingTls, type ConnectTlsOptions, connectingToAny } from './connect.ts';
import type { Connector, OpenAddress } from './connection.ts';
import type { Tunnel } from './proxy-tunnel.ts';

/** The callback's host is, or resolves to, an address that callbacks must not reach, or its port is forbidden. */
export class BlockedAddress extends Error {
  readonly code = 'BLOCKED_ADDRESS';
  /** The address, or the port. */
  readonly place: string;
  /** A name led to the address: it may lead elsewhere tomorrow, or for others. */
  readonly isOfName: boolean;
  constructor(host: string, place: string) {
    super(`${host} is at ${place}, where callbacks are not sent`);
    this.place = place;
    this.isOfName = isIP(place) !== 0 && isIP(host) === 0;
    this.name = 'BlockedAddress';
  }
}

export type ConnectOptions = Omit<ConnectTlsOptions, 'open'> & {
  networks: CallbackNetworks;
  deniedPorts: ReadonlySet<number>;
  resolveHost: ResolveHost;
  clock: Clock;
  /** Undefined if callbacks leave directly. */
  tunnel: Tunnel | undefined;
};

/**
 * Opens connections for callbacks, only to allowed addresses and ports. Filters the addresses of a name at every connection,
 * so that a name cannot change between check and use, nor a remembered answer pass unchecked.
 */
export function safeConnector(options: ConnectOptions): Connector {
  const { deniedPorts, tunnel, connectTimeoutMs, connected, clock } = options;
  const openAddress = tunnel === undefined ? directly : tunnel.open;
  const open = connectingToAny({ find: safeLookup(options), open: openAddress, connectTimeoutMs, clock });
  const connect = connectingTls({ open, connectTimeoutMs, connected });
  return notingBlocked((target, done) => {
    if (!isForbiddenPort(target, deniedPorts)) return connect(target, done);
    done(new BlockedAddress(target.hostname, `port ${target.port}`), null);
  });
}

// The limit is that of all addresses together.
const connectPlainly = buildConnector({ timeout: 0 });

const directly: OpenAddress = ({ address }, port, signal) =>
  new Promise((resolve, reject) => {
    const to = { hostname: address, host: address, protocol: 'http:', port: String(port) };
    // undici returns the socket, which its types do not say.
    const socket: unknown = connectPlainly(to, (error, made) => (error === null ? resolve(made) : reject(error)));
    if (socket instanceof Socket) signal.addEventListener('abort', () => socket.destroy(), { once: true });
  });

/** Notes the blocked address in the connection. */
function notingBlocked(connect: Connector): Connector {
  return (target, done) =>
    connect(target, (...made) => {
      const [error] = made;
      if (error instanceof BlockedAddress && isIP(error.place) !== 0) target.connection.ip = error.place;
      done(...made);
    });
}

function safeLookup({ networks, resolveHost }: ConnectOptions): ResolveHost {
  return async (hostname) => {
    const host = withoutRootDot(hostname);
    const family = isIP(host);
    const addresses = family === 0 ? await resolveHost(hostname) : [{ address: host, family }];
    const permitted = addresses.filter(({ address }) => !isForbiddenAddress(address, networks));
    const [first] = addresses;
    if (permitted.length === 0 && first !== undefined) throw new BlockedAddress(host, first.address);
    return permitted;
  };
}
