import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { codeOf } from '@waybell/runtime/error-codes';

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
