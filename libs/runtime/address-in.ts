import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The IP address in what proxies and sockets write of where something came from: `192.0.2.1`, `192.0.2.1:443`,
 * `[2001:db8::1]:443`, `"[fe80::1%eth0]"`, `::ffff:192.0.2.1`. It has one spelling (RFC 5952; IPv4 where it is that, mapped),
 * whatever port, brackets, quotes or zone it came with. Undefined where there is none.
 */
export function addressIn(text: string): string | undefined {
  const unquoted = text.trim().replace(/^(["'])(.*)\1$/s, '$2');
  const [bare = ''] = (/^\[(.*)\](:[\w.-]*)?$/.exec(unquoted)?.[1] ?? unquoted).split('%');
  // A port may be a word too (RFC 7239, 6); IPv6 without brackets is tried as a whole first.
  const found = [bare, bare.replace(/:[\w.-]*$/, '')].find((each) => isIP(each) !== 0);
  return found === undefined ? undefined : ipaddr.process(found).toString();
}
