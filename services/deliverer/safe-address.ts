import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { buildConnector } from 'undici';
import { isForbiddenAddress, type AllowList } from '@waybell/runtime/forbidden-address';

/** The callback's host is, or resolves to, an address that callbacks must not reach. */
export class BlockedAddress extends Error {
  readonly code = 'BLOCKED_ADDRESS';
  constructor(host: string, address: string) {
    super(`${host} is at ${address}, where callbacks are not sent`);
    this.name = 'BlockedAddress';
  }
}

export type SafeConnectorOptions = { allowed: AllowList; connectTimeoutMs: number };

/**
 * Opens connections for callbacks, and only to addresses that are allowed. Names are checked on the very list of
 * addresses that is then connected to, at every connection, so that a name cannot change its answer in between;
 * literal addresses, for which no look-up happens, are checked before.
 */
export function safeConnector({ allowed, connectTimeoutMs }: SafeConnectorOptions): buildConnector.connector {
  const own = ownAddresses();
  const isForbidden = (address: string) =>
    isForbiddenAddress(address, allowed) ||
    (own.has(address) && !allowed.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6'));

  const safeLookup = (
    host: string,
    options: LookupOptions,
    done: (error: NodeJS.ErrnoException | null, found: LookupAddress[] | string, family?: number) => void,
  ) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, []);
      const blocked = addresses.find(({ address }) => isForbidden(address));
      if (blocked !== undefined) return done(new BlockedAddress(host, blocked.address), []);
      const [first] = addresses;
      if (options.all === true || first === undefined) return done(null, addresses);
      done(null, first.address, first.family);
    });
  };

  const connect = buildConnector({ timeout: connectTimeoutMs, lookup: safeLookup, allowH2: false });
  return (options, done) => {
    if (isIP(options.hostname) !== 0 && isForbidden(options.hostname)) {
      done(new BlockedAddress(options.hostname, options.hostname), null);
      return;
    }
    connect(options, done);
  };
}

// A public address of this very machine would lead callbacks to what listens beside the deliverer.
function ownAddresses(): Set<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []));
}
