import { checked, words } from '@waybell/runtime/environment';

export const egressSettings = {
  EGRESS_PROBE_URLS: checked(
    words({
      default: [],
      desc: 'servers on the internet, connected to when receivers fail: if these fail too, it is our network; empty: some receivers',
      example: 'https://a.example.com,https://b.example.net',
    }),
    readProbes,
  ),
};

/** Reads origins from URLs. Throws if one is no http or https address. */
export function readProbes(urls: readonly string[]): string[] {
  return urls.map((text) => {
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol))
      throw new Error(`"${text}" is no address to connect to: write it as https://a.example.com`);
    return url.origin;
  });
}
