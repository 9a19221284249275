import { tcpServer } from '@waybell/deliverer/testing/server';
import { asked, type HostileReceivers } from './hostile-receiver.ts';

const HALF_A_BODY = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf';
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

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
  'closes a connection it kept just as the next request comes': {
    end: 'delivered',
    secondEnd: 'reset',
    start: () => {
      let requests = 0;
      return tcpServer((socket) =>
        socket.on('data', () => {
          requests += 1;
          if (requests === 2) socket.resetAndDestroy();
          else socket.write(OK);
        }),
      );
    },
  },
  'closes every connection it promised to keep': {
    end: 'delivered',
    start: () => asked((socket) => void socket.end('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\n\r\n')),
  },
};
