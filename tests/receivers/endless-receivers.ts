import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { sayingServer, tcpServer } from '@waybell/deliverer/testing/server';
import { flood, type HostileReceivers, type Started } from './hostile-receiver.ts';

const BLOCK = 'y'.repeat(16 * 1024);
const BOMB = gzipSync(Buffer.alloc(48 * 2 ** 20));

/** Receivers that send more than anybody wants, as fast as it is taken. */
export const endlessReceivers: HostileReceivers = {
  'answers 200 with an endless body': {
    end: 'delivered',
    start: () => flooding('HTTP/1.1 200 OK\r\n\r\n', BLOCK),
  },
  'answers 200 with an endless chunked body': {
    end: 'delivered',
    start: () => flooding('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', `4000\r\n${BLOCK}\r\n`),
  },
  'answers 200 with one chunk whose extension is endless': {
    end: 'delivered',
    start: () => flooding('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;x=', BLOCK),
  },
  'answers 200 with a compression bomb': {
    end: 'delivered',
    start: () =>
      tcpServer((socket) =>
        socket.once('data', () => {
          socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\n\r\n`);
          socket.write(BOMB);
        }),
      ),
  },
  'answers 500 with an endless body': {
    end: 'http_5xx',
    start: () => flooding('HTTP/1.1 500 No\r\n\r\n', BLOCK),
  },
  'sends headers without end': {
    end: 'invalid_response',
    start: () => flooding('HTTP/1.1 200 OK\r\n', 'x: y\r\n'.repeat(1_000)),
  },
  'sends a header line of a megabyte': {
    end: 'invalid_response',
    start: () => sayingServer(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(2 ** 20)}\r\ncontent-length: 0\r\n\r\n`),
  },
  'sends a status line without end': {
    end: 'invalid_response',
    start: () => flooding('HTTP/1.1 200 ', BLOCK),
  },
  'sends a header of nothing but blanks, without end': {
    end: 'invalid_response',
    start: () => flooding('HTTP/1.1 200 OK\r\nx:', ' '.repeat(16 * 1024)),
  },
  'sends empty lines without end': {
    end: 'invalid_response',
    start: () => flooding('', '\r\n'.repeat(8 * 1024)),
  },
  'says 100 Continue without end': {
    end: 'invalid_response',
    start: () => flooding('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(50)),
  },
  'says 103 Early Hints without end': {
    end: 'invalid_response',
    start: () => flooding('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(50)),
  },
};

function flooding(head: string, bytes: string): Promise<Started> {
  return tcpServer((socket: Socket) =>
    socket.once('data', () => {
      socket.write(head);
      flood(socket, bytes);
    }),
  );
}
