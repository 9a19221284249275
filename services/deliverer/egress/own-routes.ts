import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { codeOf } from '@waybell/runtime/error-codes';

/** Whether this machine has a way to an address. Where it never had one to any of that family, that is not missing. */
export type OwnRoutes = {
  /** A connection was made to it. */
  reached(address: string): void;
  /** The way to it is gone. */
  isLost(address: string): Promise<boolean>;
  /** Whether there ever was a way to an address of its family. */
  hadAny(address: string): boolean;
};

/** Addresses of the networks for documentation: the way there is the way to anywhere. */
const ANYWHERE = ['192.0.2.1', '2001:db8::1'];
const WAYLESS = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'ENETDOWN', 'EAFNOSUPPORT']);
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

/** To connect a UDP socket sends nothing, but looks for a route. */
async function hasRoute(address: string): Promise<boolean> {
  const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4');
  try {
    socket.connect(PORT, address);
    await once(socket, 'connect');
    return true;
  } catch (error) {
    return !WAYLESS.has(codeOf(error));
  } finally {
    socket.close();
  }
}
