const NEXT_ADDRESS = /,(?=\s*[a-z]+(?:\+[a-z]+)?:\/\/)/i;
/** Scheme and user, the hosts, and the rest. */
const PARTS = /^([a-z+]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is;

/**
 * Each address of a setting that may name several, separated by commas, whole or as several hosts of one. A password may hold a
 * comma as well.
 */
export function addressesIn(text: string): [string, ...string[]] {
  const [first = text, ...others] = text.split(NEXT_ADDRESS).flatMap((address) => perHost(address.trim()));
  return [first, ...others];
}

/** "s://u:p@a:1,b/db" as "s://u:p@a:1/db" and "s://u:p@b/db". */
function perHost(address: string): string[] {
  const [, before, hosts, after] = PARTS.exec(address) ?? [];
  return hosts === undefined ? [address] : hosts.split(',').map((host) => `${before}${host}${after}`);
}
