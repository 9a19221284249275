import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Finds the IP address in the forms that proxies and sockets write: `192.0.2.1`, `192.0.2.1:443`, `[2001:db8::1]:443`,
 * `"[fe80::1%eth0]"`, `::ffff:192.0.2.1`. Returns its canonical form (RFC 5952; a mapped IPv4 address as IPv4) without port,
 * brackets, quotes or zone. Undefined if there is none.
 */
export function addressIn(text: string): string | undefined {
  const unquoted = text.trim().replace(/^(["'])(.*)\1$/s, '$2');
  const [bare = ''] = (/^\[(.*)\](:[\w.-]*)?$/.exec(unquoted)?.[1] ?? unquoted).split('%');
  // A port may be a word too (RFC 7239, 6); IPv6 without brackets is tried as a whole first.
  const found = [bare, bare.replace(/:[\w.-]*$/, '')].find((each) => isIP(each) !== 0);
  return found === undefined ? undefined : ipaddr.process(found).toString();
}
