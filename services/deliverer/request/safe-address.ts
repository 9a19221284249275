import type { LookupAddress } from 'node:dns';
import { isIP, Socket, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { isForbiddenPort } from '@waybell/runtime/callback-ports';
import { isForbiddenAddress, type CallbackNetworks } from '@waybell/runtime/forbidden-address';
import { connectingTls, type ConnectTlsOptions } from './connect-tls.ts';
import { noteConnecting, type Connector, type ConnectTarget } from './connection.ts';
import { buildConnector } from 'undici';
import { TunnelRefused, type Tunnel } from './proxy-tunnel.ts';
import { withoutRootDot } from '@waybell/runtime/names/host-name';
import type { ResolveHost } from '@waybell/runtime/names/resolve-host';

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

export type SafeConnectorOptions = Omit<ConnectTlsOptions, 'open'> & {
  networks: CallbackNetworks;
  deniedPorts: ReadonlySet<number>;
  resolveHost: ResolveHost;
  /** Undefined if callbacks leave directly. */
  tunnel: Tunnel | undefined;
};

/**
 * Each of several addresses of a host has a quarter of the limit; with Node's 500 ms a busy process gives up connections
 * that are made.
 */
const ATTEMPT_SHARE = 1 / 4;

/**
 * Opens connections for callbacks, only to allowed addresses and ports. Filters the addresses of a name at every connection,
 * so that a name cannot change between check and use, nor a remembered answer pass unchecked.
 */
export function safeConnector(options: SafeConnectorOptions): Connector {
  const { deniedPorts, tunnel, connectTimeoutMs, connected } = options;
  const findAddresses = safeLookup(options);
  const find = callbackify(findAddresses);
  const open =
    tunnel === undefined
      ? directly(asLookup(find), connectTimeoutMs)
      : tunnelling({ tunnel, findAddresses, connectTimeoutMs });
  const connect = connectingTls({ open, connectTimeoutMs, connected });
  return notingBlocked((target, done) => {
    if (isForbiddenPort(target, deniedPorts)) {
      return done(new BlockedAddress(target.hostname, `port ${target.port}`), null);
    }
    // A literal address is not looked up on connecting: it is checked here.
    if (isIP(target.hostname) === 0) return connect(target, done);
    find(target.hostname, (error) => (error === null ? connect(target, done) : done(error, null)));
  });
}

/** Opens plain connections. */
function directly(lookup: LookupFunction, connectTimeoutMs: number): Connector {
  const autoSelectFamilyAttemptTimeout = Math.ceil(connectTimeoutMs * ATTEMPT_SHARE);
  const connect = buildConnector({ timeout: connectTimeoutMs, autoSelectFamilyAttemptTimeout, lookup });
  return (target, done) => {
    const { protocol, port, connection } = target;
    // undici returns the socket, which its types do not say.
    const connecting: unknown = connect({ ...target, protocol: 'http:', port: port || defaultPort(protocol) }, done);
    if (connecting instanceof Socket) noteConnecting(connecting, connection);
  };
}

const defaultPort = (protocol: string): string => (protocol === 'https:' ? '443' : '80');

/** Notes the blocked address in the connection. */
function notingBlocked(connect: Connector): Connector {
  return (target, done) =>
    connect(target, (...made) => {
      const [error] = made;
      if (error instanceof BlockedAddress && isIP(error.place) !== 0) target.connection.ip = error.place;
      done(...made);
    });
}

type FindAddresses = (
  host: string,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

function safeLookup({ networks, resolveHost }: SafeConnectorOptions): ResolveHost {
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

function asLookup(find: FindAddresses): LookupFunction {
  return (host, options, done) =>
    find(host, (error, addresses) => {
      if (error !== null) return done(error, []);
      const [first] = addresses;
      if (options.all === true || first === undefined) return done(null, addresses);
      done(null, first.address, first.family);
    });
}

type Tunnelling = { tunnel: Tunnel; findAddresses: ResolveHost; connectTimeoutMs: number };

/** Opens tunnels to the addresses of a host, in turn. TLS is with the receiver, through the tunnel. */
function tunnelling({ tunnel, findAddresses, connectTimeoutMs }: Tunnelling): Connector {
  async function open({ hostname, port, protocol, connection }: ConnectTarget): Promise<Socket> {
    const { clock } = connection;
    const overdue = new AbortController();
    using _limit = clock.after(connectTimeoutMs, () => overdue.abort());
    const addresses = await findAddresses(hostname);
    if (isIP(hostname) === 0) connection.resolvedAt = clock.now();
    let refused: unknown;
    for (const address of addresses) {
      connection.ip = address.address;
      try {
        const socket = await tunnel.open(address, Number(port || defaultPort(protocol)), overdue.signal);
        connection.connectedAt = clock.now();
        return socket;
      } catch (error) {
        if (!(error instanceof TunnelRefused)) throw error;
        refused = error;
      }
    }
    throw refused;
  }

  const openSocket = callbackify(open);
  return (target, done) => {
    openSocket(target, (error, socket) => (error === null ? done(null, socket) : done(error, null)));
  };
}
