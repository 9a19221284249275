import type { Socket } from 'node:net';
import { tcpServer } from '@waybell/deliverer/testing/server';
import { asked, type HostileReceivers, type Started } from './hostile-receiver.ts';

const HALF_A_BODY = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf';
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const IDLE = 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';

/** Receivers that let go of the connection. */
export const closingReceivers: HostileReceivers = {
  'resets at once': { end: 'reset', start: () => tcpServer((socket) => void socket.resetAndDestroy()) },
  'closes at once': { end: 'reset', start: () => tcpServer((socket) => void socket.end()) },
  'resets when the request comes': { end: 'reset', start: () => asked((socket) => void socket.resetAndDestroy()) },
  'closes when the request comes': { end: 'reset', start: () => asked((socket) => void socket.end()) },
  'closes after half the status line': { end: 'reset', start: () => asked((socket) => void socket.end('HTTP/1.1 20')) },
  'closes after half the headers': {
    end: 'reset',
    start: () => asked((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-le')),
  },
  'closes after 100 Continue': {
    end: 'reset',
    start: () => asked((socket) => void socket.end('HTTP/1.1 100 Continue\r\n\r\n')),
  },
  'answers 200 and closes before the body ends': {
    end: 'delivered',
    start: () => asked((socket) => void socket.end(HALF_A_BODY)),
  },
  'answers 200 and resets before the body ends': {
    end: 'delivered',
    // A reset that overtakes the status would be one: it follows once the status has been taken and the body is missing.
    start: () =>
      asked((socket) => void socket.write(HALF_A_BODY, () => setTimeout(() => socket.resetAndDestroy(), 100))),
  },
  'resets a connection it kept just as the next request comes': {
    end: 'delivered',
    start: () => atEachSecond((socket) => socket.resetAndDestroy()),
  },
  'closes a connection it kept just as the next request comes': {
    end: 'delivered',
    start: () => atEachSecond((socket) => socket.end()),
  },
  'says to a connection it kept that it closes it just as the next request comes': {
    end: 'delivered',
    start: () => atEachSecond((socket) => socket.end(IDLE)),
  },
  'closes every connection it promised to keep': {
    end: 'delivered',
    start: () => asked((socket) => void socket.end('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\n\r\n')),
  },
};

/** Answers the first request of each connection, and does this at its second one. */
function atEachSecond(act: (socket: Socket) => unknown): Promise<Started> {
  return tcpServer((socket) => {
    let requests = 0;
    socket.on('data', () => {
      requests += 1;
      if (requests > 1) act(socket);
      else socket.write(OK);
    });
  });
}
