import { addressIn, isAllowedAddress, readNetworks } from '@waybell/runtime/networks';

type Located = {
  headersDistinct: NodeJS.Dict<string[]>;
  socket: { remoteAddress?: string | undefined };
};

/**
 * Finds the address of a client: the nearest address on its way that is not in `trustedProxies`, by their `X-Forwarded-For`. If a
 * proxy forwards a text that is no address, the proxy itself counts: otherwise strangers could choose that text. Ignores empty
 * parts (RFC 9110, 5.6.1.2). Undefined once the connection is closed.
 */
export function clientAddressBy(trustedProxies: readonly string[]): (request: Located) => string | undefined {
  const proxies = readNetworks(trustedProxies);
  return ({ headersDistinct: { 'x-forwarded-for': lines = [] }, socket }) => {
    const way = lines.flatMap((line) => line.split(',')).filter((hop) => hop.trim() !== '');
    let address = addressIn(socket.remoteAddress ?? '');
    while (address !== undefined && isAllowedAddress(address, proxies)) {
      const before = addressIn(way.pop() ?? '');
      if (before === undefined) break;
      address = before;
    }
    return address;
  };
}
