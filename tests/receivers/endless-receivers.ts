import { gzipSync } from 'node:zlib';
import { asked, flood, saying, type End, type HostileReceivers } from './hostile-receiver.ts';

const BLOCK = 'y'.repeat(16 * 1024);
const BOMB = gzipSync(Buffer.alloc(48 * 2 ** 20));

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;

/** Receivers that send more than any sender wants, as fast as it is taken. */
export const endlessReceivers: HostileReceivers = {
  ...flooding('delivered', {
    'answers 200 with an endless body': [`${OK}\r\n`, BLOCK],
    'answers 200 with an endless chunked body': [CHUNKED, `4000\r\n${BLOCK}\r\n`],
    'answers 200 with one chunk whose extension is endless': [`${CHUNKED}1;x=`, BLOCK],
  }),
  'answers 200 with a compression bomb': {
    end: 'delivered',
    start: () =>
      asked((socket) => {
        socket.write(`${OK}content-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\n\r\n`);
        socket.write(BOMB);
      }),
  },
  ...flooding('http_5xx', { 'answers 500 with an endless body': ['HTTP/1.1 500 No\r\n\r\n', BLOCK] }),
  ...flooding('invalid_response', {
    'sends headers without end': [OK, 'x: y\r\n'.repeat(1_000)],
    'sends a status line without end': ['HTTP/1.1 200 ', BLOCK],
    'sends a header of nothing but blanks, without end': [`${OK}x:`, ' '.repeat(16 * 1024)],
    'sends empty lines without end': ['', '\r\n'.repeat(8 * 1024)],
    'says 100 Continue without end': ['', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(50)],
    'says 103 Early Hints without end': ['', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(50)],
  }),
  ...saying('invalid_response', {
    'sends a header line of a megabyte': `${OK}x: ${'y'.repeat(2 ** 20)}\r\ncontent-length: 0\r\n\r\n`,
  }),
};

/** Receivers that send the first text once and the second for ever, all with the same end. */
function flooding(end: End, texts: Record<string, [head: string, bytes: string]>): HostileReceivers {
  const start = ([head, bytes]: [string, string]) =>
    asked((socket) => {
      socket.write(head);
      flood(socket, bytes);
    });
  return Object.fromEntries(Object.entries(texts).map(([name, each]) => [name, { end, start: () => start(each) }]));
}
