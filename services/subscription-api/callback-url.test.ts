import { describe, expect, test } from '@jest/globals';
import { systemClock } from '@waybell/runtime/clock';
import { resolverOf } from '@waybell/runtime/names/resolve-host';
import { readPorts, readNetworks } from '@waybell/runtime/networks';
import { dnsServer, type Said } from '@waybell/runtime/testing/dns-server';
import { findHostRefusal, readCallbackHost, readCallbackUrl, resolveWithin } from './callback-url.ts';

const known: Record<string, string[]> = {
  'hooks.example.com': ['93.184.215.14'],
  'gone.example.com': [],
  'inside.example.com': ['10.0.0.1', 'fd00::1'],
  'mixed.example.com': ['10.0.0.1', '93.184.215.14'],
  'translated.example.com': ['64:ff9b::5db8:d70e'],
  'translated-inside.example.com': ['64:ff9b::a00:1'],
  localhost: ['93.184.215.14'],
  'hooks.': ['93.184.215.14'],
};
const rules = {
  isHttpAllowed: false,
  networks: readNetworks([]),
  deniedPorts: readPorts(['6379', '1-79']),
  resolve: async (host: string) => known[host],
};

describe('readCallbackUrl', () => {
  test.each([
    'https://hooks.example.com/',
    'https://hooks.example.com:8443/a/b?c=d@e',
    'https://hooks.example.com/%20',
    'https://mixed.example.com/',
    'https://translated.example.com/',
    'https://[64:ff9b::5db8:d70e]/',
    'https://nobody-says.example.com/',
    'https://93.184.215.14/',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
    `https://hooks.example.com/${'a'.repeat(2_048 - 26)}`,
  ])('takes %s', async (url) => {
    expect(await readCallbackUrl(url, rules)).toEqual({ url });
  });

  test.each([
    ['https://hooks.example.com', 'https://hooks.example.com/'],
    ['HTTPS://HOOKS.example.com:443/a/../b', 'https://hooks.example.com/b'],
    ['https://hooks%2eexample.com/', 'https://hooks.example.com/'],
    ['https://hooks。example。com/', 'https://hooks.example.com/'],
    ['https://bücher.example/ä?ö', 'https://xn--bcher-kva.example/%C3%A4?%C3%B6'],
    ['https://0x5d.12105486/', 'https://93.184.183.14/'],
    // Servers refuse what RFC 3986 has no place for, which the URL standard leaves as it is.
    ['https://hooks.example.com/[x]/a|b{c}^`', 'https://hooks.example.com/%5Bx%5D/a%7Cb%7Bc%7D%5E%60'],
    [
      'https://hooks.example.com/?filter[type]=a|b^`{c}"<>',
      'https://hooks.example.com/?filter%5Btype%5D=a%7Cb%5E%60%7Bc%7D%22%3C%3E',
    ],
    [
      "https://hooks.example.com/a%2Fb;v=1,2/~(x)!*?q='%c3%a4'&r=@:/?+",
      'https://hooks.example.com/a%2Fb;v=1,2/~(x)!*?q=%27%c3%a4%27&r=@:/?+',
    ],
    // Certificates and servers know no dot at the end of a name.
    ['https://hooks.example.com./a', 'https://hooks.example.com/a'],
    ['https://hooks.example.com..:443/', 'https://hooks.example.com/'],
    ['https://hooks.example.com.:8443/', 'https://hooks.example.com:8443/'],
    ['https://hooks。example。com。/', 'https://hooks.example.com/'],
    ['https://93.184.215.14./', 'https://93.184.215.14/'],
    ['https://93.184.215.14../', 'https://93.184.215.14/'],
    ['https://localhost./', 'https://localhost/'],
    // Without it this one would go through the search list.
    ['https://hooks../', 'https://hooks./'],
  ])('reads %s as %s', async (text, url) => {
    expect(await readCallbackUrl(text, rules)).toEqual({ url });
  });

  test.each([
    ['', 'not an absolute'],
    ['/relative', 'not an absolute'],
    ['hooks.example.com', 'not an absolute'],
    ['//hooks.example.com', 'not an absolute'],
    ['https:hooks.example.com', 'not an absolute'],
    ['https:///', 'not an absolute'],
    ['https:///hooks.example.com/', 'not an absolute'],
    ['https://./', 'no host'],
    ['https://../', 'no host'],
    ['https://exa mple.com', 'space'],
    [' https://hooks.example.com', 'space'],
    ['https:\\\\hooks.example.com', 'backslash'],
    ['https://hooks.example.com/\u0000', 'control'],
    ['https://hooks.example.com/\ud800', 'control'],
    ['https://hooks.example.com:99999/', 'not an absolute'],
    ['http://hooks.example.com/', 'not https'],
    ['ftp://hooks.example.com/', 'not https'],
    ['https://user:pass@hooks.example.com/', 'user name'],
    ['https://@hooks.example.com/', 'user name'],
    ['https://hooks.example.com/#part', 'fragment'],
    ['https://hooks.example.com/#', 'fragment'],
    [`https://hooks.example.com/${'a'.repeat(2_048 - 25)}`, 'longer than 2048'],
    ['https:///user:pass@hooks.example.com/', 'not an absolute'],
    ['https://user%3Apass@hooks.example.com/', 'user name'],
    ['https://:@hooks.example.com/', 'user name'],
    ['https://hooks.example.com/?p=100%', '% that begins no escape, at character 33: write it as %25'],
    ['https://hooks.example.com/%zz', 'at character 27'],
    ['https://gone.example.com/', 'does not exist'],
    [`https://hooks.example.com/${'ä'.repeat(400)}`, 'longer than 2048'],
    ['https://127。0。0。1/', 'public addresses only'],
    ['https://127.0.0.1/', 'public addresses only'],
    ['https://127.0.0.1../', 'public addresses only'],
    ['https://0x7f.1../', 'public addresses only'],
    ['https://gone.example.com./', 'does not exist'],
    ['https://2130706433/', 'public addresses only'],
    ['https://0x7f.1/', 'public addresses only'],
    ['https://0177.0.0.1/', 'public addresses only'],
    ['https://127.1/', 'public addresses only'],
    ['https://[::1]/', 'public addresses only'],
    ['https://[::ffff:10.0.0.1]/', 'public addresses only'],
    ['https://[64:ff9b::10.0.0.1]/', 'public addresses only'],
    ['https://translated-inside.example.com/', 'has no public address'],
    ['https://169.254.169.254/latest', 'public addresses only'],
    ['https://100.64.0.1/', 'public addresses only'],
    ['https://inside.example.com/', 'has no public address'],
  ])('refuses %j: %s', async (url, reason) => {
    expect(await readCallbackUrl(url, rules)).toEqual({ fault: expect.stringContaining(reason) });
  });

  test('takes http and forbidden networks where the settings allow them', async () => {
    const open = { ...rules, isHttpAllowed: true, networks: readNetworks(['127.0.0.0/8']) };
    const [taken, inside, other] = ['http://127.0.0.1:9000/hooks', 'http://10.0.0.1/', 'ftp://127.0.0.1/'];
    expect(await readCallbackUrl(taken, open)).toEqual({ url: taken });
    expect(await readCallbackUrl(inside, open)).toEqual({ fault: expect.stringContaining('public addresses only') });
    expect(await readCallbackUrl(other, open)).toEqual({ fault: expect.stringContaining('not https or http') });
  });
});

describe('resolveWithin', () => {
  const said: Record<string, Said> = {
    'there.test': { addresses: ['192.0.2.1'], ttlSeconds: 1 },
    'broken.test': 'failure',
  };

  test('finds addresses; none of what does not exist, and nothing where no name server answers', async () => {
    const server = await dnsServer((name) => said[name] ?? 'absent');
    const names = { hosts: new Map(), search: [], ndots: 1 };
    const resolve = resolveWithin(60_000, () => resolverOf({ names, servers: [server.address], clock: systemClock }));
    expect(await resolve('there.test')).toEqual(['192.0.2.1']);
    expect(await resolve('gone.test')).toEqual([]);
    expect(await resolve('broken.test')).toBeUndefined();
    await server[Symbol.asyncDispose]();
    expect(await resolve('other.test')).toBeUndefined();
  });

  test('waits no longer than it may', async () => {
    const never = resolveWithin(1, () => () => new Promise(() => undefined));
    expect(await never('there.test')).toBeUndefined();
  });
});

describe('readCallbackHost', () => {
  test.each([
    ['hooks.example.com', 'hooks.example.com'],
    ['HOOKS.Example.com', 'hooks.example.com'],
    ['hooks.example.com:443', 'hooks.example.com'],
    ['hooks.example.com:8443', 'hooks.example.com:8443'],
    ['hooks.example.com.', 'hooks.example.com'],
    ['hooks.example.com.:8443', 'hooks.example.com:8443'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['hооks.example.com', 'xn--hks-seda.example.com'],
    ['93.184.215.14', '93.184.215.14'],
    ['0x5db8d70e:8443', '93.184.215.14:8443'],
    ['[2606:2800:21F:CB07:6820:80DA:AF6B:8B2C]:8443', '[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443'],
    ['gone.example.com', 'gone.example.com'],
    ['inside.example.com', 'inside.example.com'],
    ['a_b.example.com', 'a_b.example.com'],
    ['localhost:8443', 'localhost:8443'],
  ])('reads %s as %s, as callback URLs have it', async (text, host) => {
    expect(readCallbackHost(text)).toEqual({ host });
    expect(readCallbackHost(host)).toEqual({ host });
    expect(new URL(`https://${text.replace('.:', ':').replace(/\.$/, '')}/`).host).toBe(host);
  });

  test.each([
    ['', 'must be a host such as'],
    ['::1', 'must be a host such as'],
    ['hooks.example.com:99999', 'must be a host such as'],
    ['hooks.example.com/a', 'must be a host such as'],
    ['hooks.example.com?s3cret', 'must be a host such as'],
    ['//hooks.example.com', 'must be a host such as'],
    [`${'a.'.repeat(130)}example.com`, 'must be a host such as'],
    ['*.example.com', 'is no name of one host'],
    ['*', 'is no name of one host'],
    ['hooks..example.com', 'is no name of one host'],
    [`${'a'.repeat(64)}.example.com`, 'is no name of one host'],
    ['https://u:s3cret@hooks.example.com:8443/s3cret?s3cret', 'give its host alone, which is hooks.example.com:8443'],
    ['http://hooks.example.com', 'is a URL: give its host alone, which is hooks.example.com'],
    ['u:s3cret@hooks.example.com', 'contains a user name or password: remove it'],
    ['hooks.example.com#s3cret', 'contains a fragment: remove it'],
    [String.raw`hooks.example.com\s3cret`, 'contains a space, a backslash'],
    ['hooks.exam\u200bple.com', 'contains a space, a backslash, or a control or invisible character'],
  ])('refuses %s, which it %s', (text, fault) => {
    const read = readCallbackHost(text);
    expect(read).toEqual({ fault: expect.stringContaining(fault) });
    expect(JSON.stringify(read)).not.toContain('s3cret');
  });

  test.each([
    ['hooks.example.com:6379', 'names port 6379, which is closed to callbacks'],
    ['127.0.0.1:8443', 'points to 127.0.0.1, which is private or reserved: callbacks go to public addresses only'],
    ['2130706433', 'points to 127.0.0.1, which is private or reserved: callbacks go to public addresses only'],
    [
      '[::ffff:10.0.0.1]',
      'points to ::ffff:a00:1, which is private or reserved: callbacks go to public addresses only',
    ],
    ['hooks.example.com:8443', null],
  ])('leaves it to the settings whether callbacks go to %s', (text, refusal) => {
    const read = readCallbackHost(text);
    if (!('host' in read)) throw new Error(read.fault);
    expect(findHostRefusal(read.host, rules)).toBe(refusal);
  });

  test('takes addresses inside that a setting allows', () => {
    expect(findHostRefusal('127.0.0.1:8443', { ...rules, networks: readNetworks(['127.0.0.0/8']) })).toBeNull();
  });
});
