import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HeadReader } from './head-reader.ts';

/** Returns what is passed on of these bytes, cut at these places. */
function passedOn(bytes: Buffer, cuts: readonly number[] = [], keptS?: number): string {
  const reader = new HeadReader(keptS);
  reader.expectResponse();
  const places = [0, ...cuts.toSorted((one, other) => one - other), bytes.length];
  let text = '';
  for (const [at, place] of places.slice(1).entries()) {
    const passed = reader.read(bytes.subarray(places[at], place));
    if (passed !== undefined && 'brokenRule' in passed) return passed.brokenRule;
    text += passed?.toString('latin1') ?? '';
  }
  return text;
}

const bytesOf = (text: string) => Buffer.from(text, 'latin1');
const reading = (text: string, keptS?: number) => passedOn(bytesOf(text), [], keptS);

describe('HeadReader passes on', () => {
  test.each([
    ['a length', 'content-length: 2\r\n', 'content-length: 2\r\n'],
    ['chunks', 'transfer-encoding: Chunked\r\n', 'transfer-encoding: chunked\r\n'],
    [
      'for how long it is kept',
      'content-length: 2\r\nkeep-alive: timeout=5\r\n',
      'content-length: 2\r\nkeep-alive: timeout=5\r\n',
    ],
    ['when to come again', 'content-length: 2\r\nretry-after: 7\r\n', 'content-length: 2\r\nretry-after: 7\r\n'],
    ['nothing else', 'content-length: 2\r\nserver: me\r\nupgrade: h2c\r\n', 'content-length: 2\r\n'],
  ])('of a plain head %s', (_, headers, passed) => {
    expect(reading(`HTTP/1.1 200 Fine\r\n${headers}\r\nok`)).toBe(`HTTP/1.1 200 \r\n${passed}\r\nok`);
  });

  test.each([
    ['shorter', 'timeout=4', 'keep-alive: timeout=4\r\n'],
    ['as long', 'max=9, timeout=5', ''],
    ['not limited', 'max=9', ''],
  ])('for how long it is kept if that is shorter than is known: %s', (_, said, passed) => {
    expect(reading(`HTTP/1.1 204 No\r\nkeep-alive: ${said}\r\n\r\n`, 5)).toBe(`HTTP/1.1 204 \r\n${passed}\r\n`);
  });

  test.each([
    ['a line that ends in a line feed alone', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok', 'content-length: 2\r\n'],
    ['a folded line', 'HTTP/1.1 200 OK\r\nx: y\r\n z\r\ncontent-length: 2\r\n\r\nok', 'content-length: 2\r\n'],
    ['a blank before a colon', 'HTTP/1.1 200 OK\r\ncontent-length : 2\r\n\r\nok', 'content-length: 2\r\n'],
    ['a length twice', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nok', 'content-length: 2\r\n'],
    ['a length twice in one line', 'HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\nok', 'content-length: 2\r\n'],
    ['a length in a list that goes on', 'HTTP/1.1 200 OK\r\ncontent-length: 2,\r\n\r\nok', 'content-length: 2\r\n'],
    [
      'chunks in a list that goes on',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: , chunked,\r\n\r\nok',
      'transfer-encoding: chunked\r\n',
    ],
    [
      'a length beside chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\nok',
      'transfer-encoding: chunked\r\n',
    ],
    ['an encoding that is not known', 'HTTP/1.1 200 OK\r\ntransfer-encoding: x\r\n\r\nok', ''],
    ['no length', 'HTTP/1.1 200 OK\r\n\r\nok', ''],
    ['a body where there is none', 'HTTP/1.1 204 No\r\ncontent-length: 2\r\n\r\nok', ''],
    ['a status line that is not plain', 'HTTP/1.1  200 OK\r\ncontent-length: 2\r\n\r\nok', 'content-length: 2\r\n'],
    ['an end that is not plain', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\nok', 'content-length: 2\r\n'],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok', 'content-length: 2\r\n'],
    [
      'a request to close',
      'HTTP/1.1 200 OK\r\nconnection: x, Close\r\ncontent-length: 2\r\n\r\nok',
      'content-length: 2\r\n',
    ],
  ])('that the connection is closed after %s', (_, text, frame) => {
    const status = text.includes('204') ? 204 : 200;
    expect(reading(text)).toBe(`HTTP/1.1 ${status} \r\n${frame}connection: close\r\n\r\nok`);
  });

  test('no interim response', () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\nlink: x\n\n';
    expect(reading(`${interim}HTTP/1.1 204 No\r\n\r\n`)).toBe('HTTP/1.1 204 \r\n\r\n');
  });

  test('nothing until a head is complete, however it is cut', () => {
    const text =
      '\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 \u00dc\r\r\nx: \u00ff\r\n y\ncontent-length: 2\r\n\r\nok, and\r\n\r\nmore';
    const bytes = bytesOf(text);
    const whole = 'HTTP/1.1 200 \r\ncontent-length: 2\r\nconnection: close\r\n\r\nok, and\r\n\r\nmore';
    const cuts = fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 20 });
    fc.assert(fc.property(cuts, (each) => passedOn(bytes, each) === whole));
    expect(
      passedOn(
        bytes,
        Array.from(bytes, (_, at) => at),
      ),
    ).toBe(whole);
  });

  test('a reason of any length up to that of headers, in pieces or not', () => {
    const bytes = bytesOf(`HTTP/1.1 200 ${'y'.repeat(20_000)}\r\ncontent-length: 2\r\n\r\nok`);
    const whole = 'HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\nok';
    expect(passedOn(bytes)).toBe(whole);
    expect(passedOn(bytes, [10_000, 18_000, 19_000])).toBe(whole);
  });

  test('headers of 64 KiB', () => {
    const line = 'content-length: 2\r\n';
    const text = `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(64 * 1024 - 5 - line.length)}\r\n${line}\r\nok`;
    expect(reading(text)).toBe(`HTTP/1.1 200 \r\n${line}\r\nok`);
  });

  test('of each response its own, whether it has the same head as the one before or not', () => {
    const reader = new HeadReader();
    const said = [
      'content-length: 1\r\n\r\na',
      'content-length: 1\r\n\r\nb',
      'no colon\r\n\r\n',
      'content-length: 1\r\n\r\nc',
    ];
    const passed = said.map((rest) => {
      reader.expectResponse();
      const read = reader.read(bytesOf(`HTTP/1.1 200 OK\r\n${rest}`));
      return Buffer.isBuffer(read) ? read.toString('latin1').slice(-1) : read?.brokenRule;
    });
    expect(passed).toEqual(['a', 'b', 'line 1 of its headers has no colon', 'c']);
  });

  test('something, or says why not, whatever comes', () => {
    const words =
      'HTTP/1.1 200 100 content-length transfer-encoding connection keep-alive retry-after chunked close __proto__';
    const pieces = fc.constantFrom(...words.split(' '), ...Array.from(' \t\r\n:,02x\0'));
    const text = fc.array(pieces, { maxLength: 60 }).map((each) => `HTTP/1.1 200 OK\r\n${each.join('')}\r\n\r\n`);
    const taken = /^HTTP\/1\.1 \d{3} \r\n(?:[a-z-]+: [\t -~]*\r\n)*\r\n/;
    const said = /^(?:its? |line )/;
    fc.assert(fc.property(text.map(reading), (each) => expect(taken.test(each) || said.test(each)).toBe(true)));
  });

  test('as it comes what nobody asked for', () => {
    const reader = new HeadReader();
    const bytes = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
    expect(reader.read(bytes)).toBe(bytes);
  });
});

describe('HeadReader gives up', () => {
  test.each(['', ',', '2, x'])('a length that is none: "%s"', (length) => {
    expect(reading(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`)).toMatch(/Content-Length/);
  });

  test.each([
    ['what does not begin like HTTP', 'SSH-', 'it does not begin with HTTP/'],
    ['a status line that is none', 'HTTP/1.1 none\r\n', 'its status line is not'],
    ['what is too long', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(65 * 1024)}`, 'its headers are longer'],
    ['a status line that is too long', `HTTP/1.1 200 ${'y'.repeat(65 * 1024)}`, 'its status line is longer'],
    ['a long one that is none', `HTTP/1.1 none ${'y'.repeat(16 * 1024)}`, 'its status line is not'],
  ])('%s before it is complete', (_, text, rule) => {
    expect(reading(text)).toMatch(new RegExp(`^${rule}`));
  });
});
