import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';

/**
 * Answer about a name: its addresses, an error (RFC 1035, 4.1.1), or none at all. `drops`: the address family whose queries get
 * no answer.
 */
export type Said = { addresses: string[]; ttlSeconds: number; drops?: 4 | 6 } | keyof typeof RCODE | 'silent';

const RCODE = { absent: 3, unreadable: 1, failure: 2, unable: 4, refused: 5 } as const;

export type DnsServer = AsyncDisposable & {
  /** `address:port`. */
  address: string;
  /**
   * Names asked for, in order: once for each address family, however often a query is repeated; without the root, asked at any
   * time.
   */
  asked: string[];
};

const TYPE = { 1: 4, 28: 6 } as const;
const HEADER_BYTES = 12;

/** Starts a name server that answers queries for A and AAAA records, on the loopback address by default. */
export async function dnsServer(
  say: (name: string) => Said,
  { host = '127.0.0.1', port = 0 } = {},
): Promise<DnsServer> {
  const asked: string[] = [];
  const questions = new Set<string>();
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    const question = `${query.readUInt16BE(0)} ${type} ${name}`;
    if (name !== '' && !questions.has(question)) asked.push(name);
    questions.add(question);
    const said = say(name);
    if (said !== 'silent' && !isDropped(said, type))
      socket.send(answer(query.subarray(0, end), type, said), from.port, from.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(port, host, resolve);
  });
  return {
    address: `${host}:${socket.address().port}`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        socket.close(resolve);
      }),
  };
}

const familyOf = (type: number): number => (type === 1 || type === 28 ? TYPE[type] : 0);

const isDropped = (said: Said, type: number): boolean => typeof said !== 'string' && said.drops === familyOf(type);

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answer(question: Buffer, type: number, said: Exclude<Said, 'silent'>): Buffer {
  const family = familyOf(type);
  const { addresses, ttlSeconds } = typeof said === 'string' ? { addresses: [], ttlSeconds: 0 } : said;
  const records = addresses.filter((each) => isIP(each) === family).map((each) => record(each, type, ttlSeconds));
  const message = Buffer.concat([question, ...records]);
  // A response to a recursive query, with recursion available.
  message.writeUInt16BE(0x8180 + (typeof said === 'string' ? RCODE[said] : 0), 2);
  message.writeUInt16BE(records.length, 6);
  message.writeUInt32BE(0, 8);
  return message;
}

function record(address: string, type: number, ttlSeconds: number): Buffer {
  const bytes = bytesOf(address);
  const head = Buffer.alloc(12);
  // Points to the name in the query.
  head.writeUInt16BE(0xc000 + HEADER_BYTES, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttlSeconds, 6);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}

function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [before = '', after = ''] = address.split('::');
  const groups = (text: string) => text.split(':').filter(Boolean);
  const zeros = Array.from({ length: 8 - groups(before).length - groups(after).length }, () => '0');
  const all = [...groups(before), ...zeros, ...groups(after)];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
