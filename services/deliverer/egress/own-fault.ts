import { types } from 'node:util';
import { codeOf, withCauses } from '@waybell/runtime/error-codes';
import type { OwnRoutes } from './own-routes.ts';

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

const NO_ROUTE = new Set(['EADDRNOTAVAIL', 'ENETUNREACH']);

/** Whether this machine never had addresses of that family, as with IPv6 off. Such an address says nothing. */
function isOfOtherFamily(error: unknown, routes: OwnRoutes): boolean {
  if (!(error instanceof Error) || !NO_ROUTE.has(codeOf(error))) return false;
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
