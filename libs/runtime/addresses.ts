/** Settings that name a server, or several of one cluster. Their addresses may hold passwords. */

const NEXT_ADDRESS = /,(?=\s*[a-z]+(?:\+[a-z]+)?:\/\/)/i;
/** Matches scheme and user, the hosts, and the rest. */
const PARTS = /^([a-z+]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is;

/**
 * Returns each address of a setting: comma-separated addresses, or one address with several hosts. A password may contain a
 * comma.
 */
export function addressesIn(text: string): [string, ...string[]] {
  const [first = text, ...others] = text.split(NEXT_ADDRESS).flatMap((address) => perHost(address.trim()));
  return [first, ...others];
}

/** Splits "s://u:p@a:1,b/db" into "s://u:p@a:1/db" and "s://u:p@b/db". */
function perHost(address: string): string[] {
  const [, before, hosts, after] = PARTS.exec(address) ?? [];
  return hosts === undefined ? [address] : hosts.split(',').map((host) => `${before}${host}${after}`);
}

/** Returns host and port, of each if there are several, for messages: the address itself holds a password. */
export function placeOf(url: string): string | undefined {
  const addresses = addressesIn(url);
  return addresses.every((address) => URL.canParse(address))
    ? addresses.map((address) => new URL(address).host).join(', ')
    : undefined;
}
