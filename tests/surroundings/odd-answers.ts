import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { carrierAt, expectOn, publicAddress } from './stand.ts';

const ADDRESS = publicAddress(28);
const PORT_OF_ANSWERS = 8081;
const crlf = (...lines: string[]) => lines.join('\r\n');

/** Answers that `curl`, Go and Python accept, as bytes of latin-1. */
const ANSWERS: Record<string, string> = {
  'lines that end with LF alone': 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok',
  'one length twice': crlf('HTTP/1.1 200 OK', 'content-length: 2', 'content-length: 2', '', 'ok'),
  'one length twice in a list': crlf('HTTP/1.1 200 OK', 'content-length: 2, 2', '', 'ok'),
  'a length beside chunks': crlf('HTTP/1.1 200 OK', 'content-length: 5', 'transfer-encoding: chunked', '', '0', '', ''),
  'a header of 40 KiB': crlf('HTTP/1.1 200 OK', `x: ${'y'.repeat(40_960)}`, 'content-length: 0', '', ''),
  'headers of 60 KiB in all': crlf(
    'HTTP/1.1 200 OK',
    ...Array.from({ length: 60 }, (_, number) => `x-${number}: ${'y'.repeat(1_000)}`),
    'content-length: 0',
    '',
    '',
  ),
  'a folded header': crlf('HTTP/1.1 200 OK', 'x: y', '  z', 'content-length: 0', '', ''),
  'a blank before the colon': crlf('HTTP/1.1 200 OK', 'content-length : 0', '', ''),
  'no reason phrase': crlf('HTTP/1.1 200', 'content-length: 0', '', ''),
  'an empty reason phrase': crlf('HTTP/1.1 200 ', 'content-length: 0', '', ''),
  'HTTP/1.0 that keeps its connection': crlf('HTTP/1.0 200 OK', 'connection: keep-alive', 'content-length: 0', '', ''),
  'HTTP/1.0 and no header': crlf('HTTP/1.0 200 OK', '', ''),
  'bytes beyond ASCII in a header': crlf('HTTP/1.1 200 OK', 'x: \xe9\xff', 'content-length: 0', '', ''),
  'UTF-8 in the reason phrase': crlf('HTTP/1.1 200 Gr\xc3\xbc\xc3\x9fe', 'content-length: 0', '', ''),
  'no length': crlf('HTTP/1.1 200 OK', '', 'ok'),
  '204 with a body': crlf('HTTP/1.1 204 No Content', 'content-length: 2', '', 'ok'),
  '204 with chunks': crlf('HTTP/1.1 204 No Content', 'transfer-encoding: chunked', '', '0', '', ''),
  'something after the body': crlf('HTTP/1.1 200 OK', 'content-length: 2', '', 'ok and more'),
  'sizes of chunks with blanks and extensions': crlf(
    'HTTP/1.1 200 OK',
    'transfer-encoding: chunked',
    '',
    '2  ;a=b',
    'ok',
    '0 ',
    '',
    '',
  ),
  'chunks that end too soon': crlf('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '2', 'ok', '0'),
  'hints before it': crlf('HTTP/1.1 103 Early Hints', 'link: </x>', '', 'HTTP/1.1 200 OK', 'content-length: 0', '', ''),
  'an encoding that nobody asked for': crlf('HTTP/1.1 200 OK', 'transfer-encoding: identity', '', 'ok'),
  'an empty header value': crlf('HTTP/1.1 200 OK', 'x:', 'content-length: 0', '', ''),
  'an upgrade that nobody asked for': crlf('HTTP/1.1 200 OK', 'upgrade: h2', 'content-length: 0', '', ''),
};

export function oddAnswers(): void {
  describe('an answer that others take', () => {
    let server: Server;
    const byPath = new Map<string, string>();

    beforeAll(async () => {
      server = createServer((socket) => {
        let head = '';
        socket.on('error', () => undefined);
        socket.on('data', (bytes: Buffer) => {
          head += bytes.toString('latin1');
          if (!head.includes('\r\n\r\n')) return;
          const path = head.split(' ')[1] ?? '';
          socket.end(byPath.get(path) ?? 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n', 'latin1');
          head = '';
        });
      }).listen(PORT_OF_ANSWERS, ADDRESS);
      await once(server, 'listening');
    });

    afterAll(() => void server.close());

    test.concurrent.each(Object.entries(ANSWERS))('is taken: %s', async (_, answer) => {
      const carrier = await carrierAt(`http://${ADDRESS}:${PORT_OF_ANSWERS}`);
      byPath.set(carrier.path, answer);
      await carrier.hear();
      await until('it is delivered', async () => (await carrier.standing()).last_success_at !== null);
      await expectOn([carrier]);
    });
  });
}
