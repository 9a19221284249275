import { asked, LARGE_BODY, saying, type HostileReceivers } from './hostile-receiver.ts';

// An empty SETTINGS frame: what a server says first that speaks HTTP/2 and nothing else.
const HTTP2_SETTINGS = '\0\0\0\x04\0\0\0\0\0';

/** Receivers that do not speak HTTP, or with a lisp. Once a 2xx status is understood, nothing after it counts. */
export const garblingReceivers: HostileReceivers = {
  ...saying('invalid_response', {
    'says what is not HTTP': 'SSH-2.0-OpenSSH_9.2\r\n',
    'sends zeros': '\0'.repeat(64),
    'answers as HTTP/0.9 did, with a document alone': '<html>thank you</html>\r\n',
    'speaks HTTP/2 only': HTTP2_SETTINGS,
    'answers in HTTP/3.0': 'HTTP/3.0 200 OK\r\n\r\n',
    'answers with status 000': 'HTTP/1.1 000 None\r\ncontent-length: 0\r\n\r\n',
    'answers with status 99': 'HTTP/1.1 99 Short\r\ncontent-length: 0\r\n\r\n',
    'answers with status 1000': 'HTTP/1.1 1000 Long\r\ncontent-length: 0\r\n\r\n',
    'answers with a status of letters': 'HTTP/1.1 two hundred\r\ncontent-length: 0\r\n\r\n',
    'says its length twice': 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: 0\r\n\r\n',
    'says two lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: 5\r\n\r\n',
    'says a negative length': 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n',
    'says a length beyond every number': `HTTP/1.1 200 OK\r\ncontent-length: ${'9'.repeat(40)}\r\n\r\n`,
    'says a length and sends chunks':
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'hides a header in a folded line': 'HTTP/1.1 200 OK\r\nx: y\r\n content-length: 0\r\n\r\n',
    'ends its lines with a carriage return alone': 'HTTP/1.1 200 OK\rcontent-length: 0\r\r',
    'puts a blank before the colon': 'HTTP/1.1 200 OK\r\ncontent-length : 0\r\n\r\n',
    'puts NUL into a header': 'HTTP/1.1 200 OK\r\nx: \0\r\ncontent-length: 0\r\n\r\n',
  }),
  ...saying('delivered', {
    'answers 200 and sends chunks that are none': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot a size\r\n',
    'answers 200 in an encoding nobody knows': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, none\r\n\r\nok',
    'answers 204 with a body': 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello',
    'answers twice': 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nHTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n',
  }),
  ...saying('reset', {
    'switches protocols unasked':
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  }),
  ...saying('http_other', {
    'answers with status 999': 'HTTP/1.1 999 What\r\nconnection: close\r\ncontent-length: 0\r\n\r\n',
  }),
  'answers 200 before it has read the body': {
    end: 'delivered',
    request: { body: LARGE_BODY },
    start: () => answeringUnread('200 OK'),
  },
  'answers 413 before it has read the body': {
    end: 'http_4xx',
    request: { body: LARGE_BODY },
    start: () => answeringUnread('413 Too Large'),
  },
};

const answeringUnread = (status: string) =>
  asked((socket) => void socket.pause().write(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`));
