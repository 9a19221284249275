import { tcpServer } from '@waybell/deliverer/testing/server';
import { asked, drip, LARGE_BODY, type HostileReceivers } from './hostile-receiver.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Receivers that take their time, and all of it. */
export const slowReceivers: HostileReceivers = {
  'never answers': {
    end: 'response_timeout',
    start: () => tcpServer((socket) => void socket.resume()),
  },
  'accepts the connection and never reads': {
    end: 'response_timeout',
    start: () => tcpServer((socket) => void socket.pause()),
  },
  'does not take the request': {
    end: 'handover_timeout',
    request: { interface: 'shipper', body: LARGE_BODY },
    start: () => tcpServer((socket) => void socket.pause()),
  },
  'sends its status line byte by byte, without end': {
    end: 'response_timeout',
    start: () => dripping('HTTP/1.1 200 ', 'OK'),
  },
  'sends its headers byte by byte, without end': {
    end: 'response_timeout',
    start: () => dripping('HTTP/1.1 200 OK\r\n', 'x: y\r\n'),
  },
  'sends its body byte by byte': {
    end: 'delivered',
    start: () => dripping('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n', 'ok'),
  },
  'begins to answer before the request has come, and never goes on': {
    end: 'response_timeout',
    start: () => tcpServer((socket) => void socket.resume().write('HTTP/1.1 2')),
  },
  'says 100 Continue now and then': {
    end: 'response_timeout',
    start: () => dripping('', 'HTTP/1.1 100 Continue\r\n\r\n'),
  },
  'answers 200 when the limit is over': {
    end: 'response_timeout',
    start: () =>
      tcpServer((socket) => {
        // Only the caller closes this connection, so the answer comes later than its limit, whatever that is.
        socket.resume().once('end', () => socket.end(OK));
      }),
  },
};

const dripping = (head: string, text: string) =>
  asked((socket) => {
    socket.write(head);
    drip(socket, text);
  });
