import { asked, LARGE_BODY, saying, type HostileReceivers } from './hostile-receiver.ts';

// An empty SETTINGS frame: the first frame of a server that speaks HTTP/2 only.
const HTTP2_SETTINGS = '\0\0\0\x04\0\0\0\0\0';

const OK = 'HTTP/1.1 200 OK';
const BODY = 'content-length: 2\r\n\r\nok';
const CHUNKS = 'transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';
const headers = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, each) => `x-${each}: ${'y'.repeat(bytes)}\r\n`).join('');

/**
 * Receivers that do not speak HTTP, or speak it badly. Answers that curl (7.88), Go (1.26) and Python (3.11) accept are accepted,
 * and so are those that some of them accept and RFC 9112 permits. Once a 2xx status is understood, nothing after it counts.
 */
export const garblingReceivers: HostileReceivers = {
  ...saying('invalid_response', {
    'says what is not HTTP': 'SSH-2.0-OpenSSH_9.2\r\n',
    'sends zeros': '\0'.repeat(64),
    'answers as HTTP/0.9 did, with a document alone': '<html>thank you</html>\r\n',
    'speaks HTTP/2 only': HTTP2_SETTINGS,
    'answers in HTTP/3.0': 'HTTP/3.0 200 OK\r\n\r\n',
    'answers in no version of HTTP': 'HTTP/1.01 200 OK\r\n\r\n',
    'puts a byte-order mark before its status line': `\ufeff${OK}\r\n${BODY}`,
    'answers with status 000': 'HTTP/1.1 000 None\r\ncontent-length: 0\r\n\r\n',
    'answers with status 99': 'HTTP/1.1 99 Short\r\ncontent-length: 0\r\n\r\n',
    'answers with status 1000': 'HTTP/1.1 1000 Long\r\ncontent-length: 0\r\n\r\n',
    'answers with a status of letters': 'HTTP/1.1 two hundred\r\ncontent-length: 0\r\n\r\n',
    'answers without a status': 'HTTP/1.1\r\ncontent-length: 0\r\n\r\n',
    'says two lengths': `${OK}\r\ncontent-length: 0\r\ncontent-length: 5\r\n\r\n`,
    'says two lengths in one line': `${OK}\r\ncontent-length: 0, 5\r\n\r\n`,
    'says a negative length': `${OK}\r\ncontent-length: -1\r\n\r\n`,
    'says a length that is no number': `${OK}\r\ncontent-length: 2 bytes\r\n\r\nok`,
    'says a length without a number': `${OK}\r\ncontent-length:\r\n\r\nok`,
    'has a header line without a colon': `${OK}\r\nnonsense\r\n${BODY}`,
    'has its status line twice': `${OK}\r\n${OK}\r\n${BODY}`,
    'has headers of more than 64 KiB': `${OK}\r\n${headers(70, 1_000)}${BODY}`,
    'ends its lines with a carriage return alone': `${OK}\rcontent-length: 0\r\r`,
    'switches protocols unasked':
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  }),
  ...saying('delivered', {
    'ends its lines with a line feed alone': `${OK}\ncontent-length: 2\n\nok`,
    'ends its status line with a line feed alone': `${OK}\n${BODY}`,
    'ends its headers with a line feed alone': `${OK}\r\ncontent-length: 2\r\n\nok`,
    'ends one header with a line feed alone': `${OK}\r\nx: y\n${BODY}`,
    'ends its lines with two carriage returns and a line feed': `${OK}\r\r\ncontent-length: 2\r\r\n\r\r\nok`,
    'has a carriage return within a header': `${OK}\r\nx: a\rb\r\n${BODY}`,
    'says its length twice': `${OK}\r\ncontent-length: 2\r\n${BODY}`,
    'says its length twice in one line': `${OK}\r\ncontent-length: 2, 2\r\n\r\nok`,
    'says its length twice, and with a zero before it': `${OK}\r\ncontent-length: 02\r\n${BODY}`,
    'says a length beyond every number': `${OK}\r\ncontent-length: ${'9'.repeat(40)}\r\n\r\nok`,
    'says a length and sends chunks': `${OK}\r\ncontent-length: 5\r\n${CHUNKS}`,
    'says that it sends chunks, and a length': `${OK}\r\ntransfer-encoding: chunked\r\n${BODY}`,
    'says a length that is none, and sends chunks': `${OK}\r\ncontent-length: x\r\n${CHUNKS}`,
    'says twice that it sends chunks': `${OK}\r\ntransfer-encoding: chunked\r\n${CHUNKS}`,
    'sends chunks in HTTP/1.0': `HTTP/1.0 200 OK\r\n${CHUNKS}`,
    'says that it encodes nothing': `${OK}\r\ntransfer-encoding: identity\r\n${BODY}`,
    'compresses the transfer': `${OK}\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    'puts a blank before the colon': `${OK}\r\nx : y\r\n${BODY}`,
    'puts a blank before the colon of its length': `${OK}\r\ncontent-length : 2\r\n\r\nok`,
    'puts a blank into the name of a header': `${OK}\r\nx y: z\r\n${BODY}`,
    'names a header with bytes beyond ASCII': `${OK}\r\nh\u00e9ader: z\r\n${BODY}`,
    'names a header with what no name may have': `${OK}\r\n"x/(y)@z": z\r\n${BODY}`,
    'names headers like members of an object': `${OK}\r\nconstructor: x\r\n__proto__: y\r\n${BODY}`,
    'names a header with nothing': `${OK}\r\n: z\r\n${BODY}`,
    'folds a header': `${OK}\r\nx: a\r\n b\r\n\tc\r\n${BODY}`,
    'folds a header with nothing': `${OK}\r\nx: a\r\n \r\n${BODY}`,
    'folds its length': `${OK}\r\ncontent-length:\r\n 2\r\n\r\nok`,
    'hides a header in a folded line': `${OK}\r\nx: y\r\n content-length: 0\r\n\r\n`,
    'begins its headers with a folded line': `${OK}\r\n x: y\r\n${BODY}`,
    'puts NUL into a header': `${OK}\r\nx: \0\r\n${BODY}`,
    'puts control characters into a header': `${OK}\r\nx: a\u0001b\u007f\r\n${BODY}`,
    'puts bytes beyond ASCII into a header': `${OK}\r\nx: \u00fc\u00ff\r\n${BODY}`,
    'has a header without a value': `${OK}\r\nx:\r\n${BODY}`,
    'has no reason phrase': `HTTP/1.1 200 \r\n${BODY}`,
    'has nothing after the status': `HTTP/1.1 200\r\n${BODY}`,
    'has bytes beyond ASCII in its reason phrase': `HTTP/1.1 200 \u00dcbernommen\r\n${BODY}`,
    'has control characters in its reason phrase': `HTTP/1.1 200 O\tK\u0001\r\n${BODY}`,
    'has a reason phrase of 9,000 bytes': `HTTP/1.1 200 ${'y'.repeat(9_000)}\r\n${BODY}`,
    'has two blanks before the status': `HTTP/1.1  200  OK \r\n${BODY}`,
    'has tabs in its status line': `HTTP/1.1\t200\tOK\r\n${BODY}`,
    'answers in lower case': `http/1.1 200 ok\r\n${BODY}`,
    'begins with empty lines': `\r\n\r\n${OK}\r\n${BODY}`,
    'answers in HTTP/1.0': `HTTP/1.0 200 OK\r\n${BODY}`,
    'answers in HTTP/1.0, and keeps the connection': `HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n${BODY}`,
    'answers in HTTP/1.2': `HTTP/1.2 200 OK\r\n${BODY}`,
    'answers in HTTP/2.0': `HTTP/2.0 200 OK\r\n${BODY}`,
    'has no headers': `${OK}\r\n\r\n`,
    'has a header of 60 KB': `${OK}\r\nx: ${'y'.repeat(60_000)}\r\n${BODY}`,
    'has headers of 60 KB': `${OK}\r\n${headers(60, 1_000)}${BODY}`,
    'has 200 headers': `${OK}\r\n${headers(200, 9)}${BODY}`,
    'has an endless header that is read': `${OK}\r\nretry-after: ${'9'.repeat(40_000)}\r\n${BODY}`,
    'offers another protocol': `${OK}\r\nupgrade: h2,h2c\r\nconnection: Upgrade, Keep-Alive\r\n${BODY}`,
    'says nonsense of its connection': `${OK}\r\nconnection: x, , y\r\nkeep-alive: z\r\n${BODY}`,
    'answers 204 with a body': 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello',
    'answers 204 with a body and no length': 'HTTP/1.1 204 No Content\r\n\r\nhello',
    'answers 204 with chunks': `HTTP/1.1 204 No Content\r\n${CHUNKS}`,
    'answers 204 with a length that is none': 'HTTP/1.1 204 No Content\r\ncontent-length: x\r\n\r\n',
    'answers 205 with a body': 'HTTP/1.1 205 Reset Content\r\ncontent-length: 5\r\n\r\nhello',
    'answers 100 first, with headers': `HTTP/1.1 100 Continue\r\ncontent-length: 5\r\n\r\n${OK}\r\n${BODY}`,
    'answers 100 first, and ends its lines with a line feed alone': `HTTP/1.1 100 Continue\n\n${OK}\n${BODY}`,
    'answers 199 first': `HTTP/1.1 199\r\n\r\n${OK}\r\n${BODY}`,
    'answers twice': `${OK}\r\ncontent-length: 0\r\n\r\nHTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n`,
    'goes on after the end of its body': `${OK}\r\n${BODY} and more`,
    'ends its body with an empty line': `${OK}\r\n${BODY}\r\n`,
    'answers 200 and sends chunks that are none': `${OK}\r\ntransfer-encoding: chunked\r\n\r\nnot a size\r\n`,
    'answers 200 and sends chunks with extensions': `${OK}\r\ntransfer-encoding: chunked\r\n\r\n2 ; a=b\r\nok\r\n0\r\n\r\n`,
    'answers 200 and ends chunks with a line feed alone': `${OK}\r\ntransfer-encoding: chunked\r\n\r\n2\nok\n0\n\n`,
    'answers 200 and does not end the last chunk': `${OK}\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n`,
    'answers 200 in an encoding nobody knows': `${OK}\r\ntransfer-encoding: chunked, none\r\n\r\nok`,
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
