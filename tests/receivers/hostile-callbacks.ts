/** Callback URLs, by the way in which they try to lead to where callbacks never go. */
type Group = {
  form: string;
  /** The error of a subscribe; null if it succeeds. */
  answer: string | null;
  /** The addresses of the names, if any. */
  names?: string[];
  urls: string[];
};

/** `https` URLs: what comes after the scheme, parted by blanks. */
const at = (...all: string[]): string[] => all.flatMap((some) => some.split(' ')).map((each) => `https://${each}`);

export const hostileCallbacks: Group[] = [
  {
    form: 'the usual suspects, written plainly',
    answer: 'public addresses only',
    urls: at(
      '127.0.0.1/ 127.255.255.254/ 10.0.0.1/ 172.16.0.1/ 172.31.255.255/ 192.168.0.1/ 169.254.0.1/ 100.64.0.1/',
      '100.127.255.255/ 192.0.0.1/ 192.0.2.1/ 198.18.0.1/ 198.51.100.1/ 203.0.113.1/ 224.0.0.1/ 239.255.255.255/',
      '240.0.0.1/ 255.255.255.255/ 192.88.99.1/ 192.31.196.1/ 192.52.193.1/ 192.175.48.1/',
    ),
  },
  {
    form: 'nothing, which many systems read as themselves',
    answer: 'public addresses only',
    urls: at('0.0.0.0/ 0/ 0.1.2.3/ [::]/ [0:0:0:0:0:0:0:0]/ 00000000/'),
  },
  {
    form: 'decimal',
    answer: 'public addresses only',
    urls: at('2130706433/ 167772161/ 3232235521/ 2852039166/ 2886729729/'),
  },
  {
    form: 'hexadecimal',
    answer: 'public addresses only',
    urls: at('0x7f000001/ 0x7F.0x0.0x0.0x1/ 0xa9fea9fe/ 0x0a.0.0.1/ 0xC0A80001/'),
  },
  {
    form: 'octal',
    answer: 'public addresses only',
    urls: at('0177.0.0.1/ 017700000001/ 0300.0250.0.1/ 0251.0376.0251.0376/ 00012.0.0.1/'),
  },
  {
    form: 'too few parts, and mixed bases',
    answer: 'public addresses only',
    urls: at('127.1/ 127.0.1/ 10.1/ 192.168.257/ 0x7f.1/ 0177.0x0.1/ 169.0376.43518/'),
  },
  {
    form: 'a trailing dot',
    answer: 'public addresses only',
    urls: at('127.0.0.1./ 2130706433./ 0x7f.1./ 169.254.169.254./ 127.0.0.1../ 0x7f.1.../'),
  },
  {
    form: 'digits and dots of other scripts',
    answer: 'public addresses only',
    urls: at(
      '１２７.０.０.１/ ①②⑦.⓪.⓪.①/ 127。0。0。1/ 127．0．0．1/ 127｡0｡0｡1/ １６９.２５４.１６９.２５４/ ０x7f.1/ 𝟏𝟐𝟕.𝟎.𝟎.𝟏/',
    ),
  },
  {
    form: 'percent-encoded',
    answer: 'public addresses only',
    urls: at('%31%32%37.0.0.1/ 127%2e0%2e0%2e1/ %EF%BC%91%EF%BC%92%EF%BC%97.0.0.1/'),
  },
  {
    form: 'IPv6, not global',
    answer: 'public addresses only',
    urls: at(
      '[::1]/ [0:0:0:0:0:0:0:1]/ [0000:0000:0000:0000:0000:0000:0000:0001]/ [fe80::1]/ [febf::1]/ [fc00::1]/',
      '[fd12:3456:789a::1]/ [fec0::1]/ [ff02::1]/ [2001:db8::1]/ [3fff::1]/ [100::1]/ [5f00::1]/ [4000::1]/',
      '[2620:4f:8000::1]/ [2001:10::1]/ [2001:20::1]/ [2001:2::1]/',
    ),
  },
  {
    form: 'IPv4 in IPv6: mapped, translated, compatible',
    answer: 'public addresses only',
    urls: at(
      '[::ffff:127.0.0.1]/ [::ffff:7f00:1]/ [0:0:0:0:0:ffff:10.0.0.1]/ [::FFFF:169.254.169.254]/',
      '[::ffff:8.8.8.8]/ [::ffff:0:127.0.0.1]/ [::127.0.0.1]/ [::7f00:1]/ [::10.0.0.1]/',
    ),
  },
  {
    form: 'IPv4 in IPv6: NAT64',
    answer: 'public addresses only',
    urls: at(
      '[64:ff9b::127.0.0.1]/ [64:ff9b::7f00:1]/ [64:ff9b::a9fe:a9fe]/ [64:ff9b:1::10.0.0.1]/',
      '[64:ff9b:1:2:3:4:7f00:1]/ [64:ff9b:1:a9fe:a9:fe00::]/ [64:ff9b:1:ffff:ffff:ffff:ffff:ffff]/',
    ),
  },
  {
    form: 'IPv4 in IPv6: 6to4, Teredo, ISATAP',
    answer: 'public addresses only',
    urls: at(
      '[2002:7f00:1::]/ [2002:a9fe:a9fe::1]/ [2002:c0a8:1::1]/ [2001::1]/',
      '[2001:0:4136:e378:8000:63bf:80ff:fffe]/ [::5efe:127.0.0.1]/ [fe80::5efe:10.0.0.1]/',
      '[2606:4700::5efe:127.0.0.1]/ [2606:4700::200:5efe:a9fe:a9fe]/ [2a00:1450:4001:800:0:5efe::]/',
    ),
  },
  {
    form: 'where clouds keep what they know of a machine',
    answer: 'public addresses only',
    urls: at(
      '169.254.169.254/latest/meta-data/ 169.254.170.2/v2/credentials 169.254.170.23/v1/credentials',
      '[fd00:ec2::254]/latest/meta-data/ [fd20:ce::254]/computeMetadata/v1/ [fe80::a9fe:a9fe]/',
      '168.63.129.16/machine 100.100.100.200/latest/meta-data/ 192.0.0.192/opc/v2/instance/ 100.88.222.5/',
      '169.254.0.23/ 169.254.42.42/conf [fd00:42::42]/conf [fd00:ec2::23]/v1/credentials',
      '[fd00:c1::a9fe:a9fe]/opc/v2/instance/',
    ),
  },
  {
    form: 'names that only a network inside knows',
    answer: 'no public address',
    urls: at(
      'metadata.google.internal/computeMetadata/v1/ metadata.google.internal./ metadata/',
      'instance-data/latest/meta-data/ instance-data.ec2.internal/ kubernetes.default.svc.cluster.local/',
      'host.docker.internal/ gateway.docker.internal/ ＭＥＴＡＤＡＴＡ/ router.home.arpa/ printer.local/ redis/',
      'localhost./ a.localhost/ xn--/',
    ),
  },
  {
    form: 'names that anyone may look up, of an address inside',
    answer: 'has no public address',
    names: ['169.254.169.254', 'fd00:ec2::254'],
    urls: at(
      'metadata.goog/computeMetadata/v1/ metadata.tencentyun.com/latest/meta-data/',
      '169.254.169.254.nip.io/latest/meta-data/ a9fea9fe.nip.io/ 127.0.0.1.sslip.io/ localtest.me/',
      'hooks.example.com.attacker.example/',
    ),
  },
  {
    form: 'a name for this very machine',
    answer: 'has no public address',
    names: ['127.0.0.1', '::1'],
    urls: at('localhost/ LOCALHOST/ ｌｏｃａｌｈｏｓｔ/ ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/ %6cocalhost/'),
  },
  {
    form: 'characters that nobody sees',
    answer: 'invisible',
    urls: [
      'https://127.0.0.1\u200b/',
      'https://local\u200bhost/',
      'https://local\u00adhost/',
      'https://hooks\u200d.example.com/',
      'https://\ufeffhooks.example.com/',
      'https://hooks.example.com\u202e/',
      'https://hooks\u2060.example.com/',
      'https://127.0.0.1\u0000.example.com/',
      'https://hooks.example.com\t/',
      'https://hooks.exa\nmple.com/',
      'https://127.0.0.1 .example.com/',
    ],
  },
  {
    form: 'no URL by the URL standard',
    answer: 'absolute',
    urls: [
      ...at('[fe80::1%25eth0]/ [fe80::1%eth0]/ [::1%251]/ 256.0.0.1/ 1.2.3.4.5/ 127.0.0.0x100/ 4294967296/ [::1/'),
      ...at('[127.0.0.1]/ [::ffff:127.0.0.256]/ %00/ 127.0.0.1:65536/ 127.0.0.1:-1/'),
      'https:127.0.0.1/',
      '//127.0.0.1/',
    ],
  },
  {
    form: 'something else before or behind the host',
    answer: 'remove it',
    urls: at('hooks.example.com@127.0.0.1/ 127.0.0.1:443@hooks.example.com/ @127.0.0.1/ 127.0.0.1/#@hooks.example.com'),
  },
  {
    form: 'a backslash, which some read as a slash',
    answer: 'backslash',
    urls: ['https://hooks.example.com\\@127.0.0.1/', 'https:\\\\127.0.0.1/', 'https://127.0.0.1\\.example.com/'],
  },
  {
    form: 'another scheme',
    answer: 'not https',
    urls: [
      'ftp://127.0.0.1/',
      'file:///etc/passwd',
      'gopher://127.0.0.1:6379/_INFO',
      'http://hooks.example.com/',
      'wss://hooks.example.com/',
    ],
  },
  {
    form: 'a port of another protocol, or none',
    answer: 'port',
    urls: '0 00 22 25 53 110 389 587 2049 2379 3306 3389 5432 5672 6379 6667 11211 27017'
      .split(' ')
      .map((port) => `https://hooks.example.com:${port}/`),
  },
  {
    form: 'names in other scripts, alone and mixed, which mean their ASCII form',
    answer: null,
    urls: at(
      'bücher.example/ xn--bcher-kva.example/ аpple.example/ раyраl.example/ ｈｏｏｋｓ.example.com/',
      'hooks。example。com/ 例え.テスト/ münchen.example:8443/',
    ),
  },
];
