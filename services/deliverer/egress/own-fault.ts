import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { types } from 'node:util';
import { codeOf, withCauses } from '@waybell/runtime/error-codes';

/**
 * Errors that only this machine causes: no name server, buffer or memory, an interface that is down, a local firewall rule.
 */
const OWN = new Set(['NAME_SERVERS_AWAY', 'ENETDOWN', 'EPERM', 'EACCES', 'ENOBUFS', 'ENOMEM']);

/**
 * Whether a connection failed for a fault of this machine, independent of the receiver. If the host has several addresses, every
 * address that this machine could have a route to must have failed so.
 */
export async function isOwnFault(thrown: unknown, routes: OwnRoutes): Promise<boolean> {
  if (thrown instanceof AggregateError) {
    const tried = thrown.errors.filter((each) => !isOfOtherFamily(each, routes));
    const areOwn = await Promise.all(tried.map((each) => isOwnFault(each, routes)));
    return areOwn.length > 0 && areOwn.every(Boolean);
  }
  for (const each of withCauses(thrown)) if (await isOwn(each, routes)) return true;
  return false;
}

const NO_FAMILY = new Set(['EADDRNOTAVAIL', 'ENETUNREACH']);

/** Whether this machine never had addresses of that family, as with IPv6 off. Such an address says nothing. */
function isOfOtherFamily(error: unknown, routes: OwnRoutes): boolean {
  if (!(error instanceof Error) || !NO_FAMILY.has(codeOf(error))) return false;
  const address = addressOf(error);
  return address !== undefined && !routes.hadAny(address);
}

async function isOwn(error: Error, routes: OwnRoutes): Promise<boolean> {
  const [code, address] = [codeOf(error), addressOf(error)];
  if (OWN.has(code)) return true;
  if (address === undefined) return false;
  // No local port is left for the address; if its family is off, there never was one.
  if (code === 'EADDRNOTAVAIL') return routes.hadAny(address);
  // A remote router reports the same about a receiver's network.
  return code === 'ENETUNREACH' && (await routes.isLost(address));
}

function addressOf(error: Error): string | undefined {
  return types.isNativeError(error) && 'address' in error && typeof error.address === 'string'
    ? error.address
    : undefined;
}

/** Tracks which address families this machine has a route for. */
export type OwnRoutes = {
  /** Notes a connection to the address. */
  reached(address: string): void;
  /** Returns whether the address's family had a route, and the address has none now. */
  isLost(address: string): Promise<boolean>;
  /** Whether there ever was a route for the address's family. */
  hadAny(address: string): boolean;
};

/** Addresses of the networks for documentation: a route to them is a default route. */
const ANYWHERE = ['192.0.2.1', '2001:db8::1'];
const NO_ROUTE = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'ENETDOWN', 'EAFNOSUPPORT']);
/** The discard port. Nothing is sent there. */
const PORT = 9;

export function watchOwnRoutes(): OwnRoutes {
  const families = new Set<number>();
  const learn = async (address: string) => void ((await hasRoute(address)) && families.add(isIP(address)));
  for (const address of ANYWHERE) void learn(address);
  return {
    reached: (address) => void (families.size < 2 && families.add(isIP(address))),
    isLost: async (address) => families.has(isIP(address)) && !(await hasRoute(address)),
    hadAny: (address) => families.has(isIP(address)),
  };
}

/** Connecting a UDP socket sends nothing, but needs a route. */
async function hasRoute(address: string): Promise<boolean> {
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
  try {
    socket.connect(PORT, address);
    await once(socket, 'connect');
    return true;
  } catch (error) {
    return !NO_ROUTE.has(codeOf(error));
  } finally {
    socket.close();
  }
}
