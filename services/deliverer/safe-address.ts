import type { LookupAddress } from 'node:dns';
import { isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { callbackify } from 'node:util';
import { isForbiddenPort } from '@waybell/runtime/callback-ports';
import { isAllowedAddress, isForbiddenAddress, type CallbackNetworks } from '@waybell/runtime/forbidden-address';
import type { Connector, ConnectTarget } from './connection.ts';
import { TunnelRefused, type Tunnel } from './proxy-tunnel.ts';
import type { ResolveHost } from './resolve-host.ts';
import { resumingConnector, type ConnectOptions } from './resume-tls.ts';

/** The callback's host is, or resolves to, an address that callbacks must not reach, or its port is such a one. */
export class BlockedAddress extends Error {
  readonly code = 'BLOCKED_ADDRESS';
  /** The address, or the port. */
  readonly place: string;
  constructor(host: string, place: string) {
    super(`${host} is at ${place}, where callbacks are not sent`);
    this.place = place;
    this.name = 'BlockedAddress';
  }
}

export type SafeConnectorOptions = Omit<ConnectOptions, 'lookup'> & {
  networks: CallbackNetworks;
  deniedPorts: ReadonlySet<number>;
  resolveHost: ResolveHost;
  /** Where callbacks leave through a proxy. */
  tunnel: Tunnel | undefined;
};

/**
 * Opens connections for callbacks, and only to addresses and ports that are allowed. Names are checked on the very list
 * of addresses that is then connected to, at every connection, so that a name cannot change its answer in between, nor
 * a remembered answer pass unchecked; literal addresses are their own answer.
 */
export function safeConnector(options: SafeConnectorOptions): Connector {
  const { deniedPorts, tunnel, ...connecting } = options;
  const findAddresses = safeLookup(options);
  const find = callbackify(findAddresses);
  const connect = resumingConnector({ ...connecting, lookup: asLookup(find) });
  const reach = tunnel === undefined ? connect : tunnelling({ ...connecting, tunnel, findAddresses, connect });
  return notingBlocked((target, done) => {
    if (isForbiddenPort(target, deniedPorts)) {
      return done(new BlockedAddress(target.hostname, `port ${target.port}`), null);
    }
    // No look-up happens for a literal address: it is checked here.
    if (isIP(target.hostname) === 0) return reach(target, done);
    find(target.hostname, (error) => (error === null ? reach(target, done) : done(error, null)));
  });
}

/** Notes which address it is that a connection must not lead to. */
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
  const own = ownAddresses();
  const isForbidden = ({ address }: LookupAddress) =>
    isForbiddenAddress(address, networks) || (own.has(address) && !isAllowedAddress(address, networks));

  return async (host) => {
    const family = isIP(host);
    const addresses = family === 0 ? await resolveHost(host) : [{ address: host, family }];
    const blocked = addresses.find(isForbidden);
    if (blocked !== undefined) throw new BlockedAddress(host, blocked.address);
    return addresses;
  };
}

function asLookup(find: FindAddresses): ConnectOptions['lookup'] {
  return (host, options, done) =>
    find(host, (error, addresses) => {
      if (error !== null) return done(error, []);
      const [first] = addresses;
      if (options.all === true || first === undefined) return done(null, addresses);
      done(null, first.address, first.family);
    });
}

type Tunnelling = Pick<ConnectOptions, 'connectTimeoutMs' | 'connected'> & {
  tunnel: Tunnel;
  findAddresses: ResolveHost;
  connect: Connector;
};

/** Tries the addresses in turn; TLS is agreed on with the receiver, through the tunnel. */
function tunnelling({ tunnel, findAddresses, connect, ...options }: Tunnelling): Connector {
  async function open({ hostname, port, protocol, connection }: ConnectTarget): Promise<Socket> {
    const { clock } = connection;
    const overdue = new AbortController();
    using _limit = clock.after(options.connectTimeoutMs, () => overdue.abort());
    const addresses = await findAddresses(hostname);
    if (isIP(hostname) === 0) connection.resolvedAt = clock.now();
    let refused: unknown;
    for (const address of addresses) {
      connection.ip = address.address;
      try {
        const socket = await tunnel.open(address, Number(port || (protocol === 'https:' ? 443 : 80)), overdue.signal);
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
    openSocket(target, (error, socket) => {
      if (error !== null) return done(error, null);
      if (target.protocol === 'https:') return connect({ ...target, httpSocket: socket }, done);
      options.connected('none');
      done(null, socket);
    });
  };
}

// A public address of this very machine would lead callbacks to what listens beside the deliverer.
function ownAddresses(): Set<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []));
}
