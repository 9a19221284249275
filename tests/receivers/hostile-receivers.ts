import {
  type HostileReceivers,
  type Started,
  asked,
  drip,
  LARGE_BODY,
  flood,
  saying,
  type End,
} from './hostile-receiver.ts';
import { secureReceivers } from './secure-receivers.ts';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { httpServer, tcpServer } from '@waybell/runtime/testing/server';
import { gzipSync } from 'node:zlib';

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
const garblingReceivers: HostileReceivers = {
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

const HALF_A_BODY = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf';
const EMPTY_ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const IDLE = 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';

/** Receivers that let go of the connection. */
const closingReceivers: HostileReceivers = {
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
      else socket.write(EMPTY_ANSWER);
    });
  });
}

const BLOCK = 'y'.repeat(16 * 1024);
const BOMB = gzipSync(Buffer.alloc(48 * 2 ** 20));

const OK_LINE = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK_LINE}transfer-encoding: chunked\r\n\r\n`;

/** Receivers that send more than any sender wants, as fast as it is taken. */
const endlessReceivers: HostileReceivers = {
  ...flooding('delivered', {
    'answers 200 with an endless body': [`${OK_LINE}\r\n`, BLOCK],
    'answers 200 with an endless chunked body': [CHUNKED, `4000\r\n${BLOCK}\r\n`],
    'answers 200 with one chunk whose extension is endless': [`${CHUNKED}1;x=`, BLOCK],
  }),
  'answers 200 with a compression bomb': {
    end: 'delivered',
    start: () =>
      asked((socket) => {
        socket.write(`${OK_LINE}content-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\n\r\n`);
        socket.write(BOMB);
      }),
  },
  ...flooding('http_5xx', { 'answers 500 with an endless body': ['HTTP/1.1 500 No\r\n\r\n', BLOCK] }),
  ...flooding('invalid_response', {
    'sends headers without end': [OK_LINE, 'x: y\r\n'.repeat(1_000)],
    'sends a status line without end': ['HTTP/1.1 200 ', BLOCK],
    'sends a header of nothing but blanks, without end': [`${OK_LINE}x:`, ' '.repeat(16 * 1024)],
    'sends empty lines without end': ['', '\r\n'.repeat(8 * 1024)],
    'says 100 Continue without end': ['', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(50)],
    'says 103 Early Hints without end': ['', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(50)],
  }),
  ...saying('invalid_response', {
    'sends a header line of a megabyte': `${OK_LINE}x: ${'y'.repeat(2 ** 20)}\r\ncontent-length: 0\r\n\r\n`,
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

const OK_ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Receivers that take their time, and all of it. */
const slowReceivers: HostileReceivers = {
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
        socket.resume().once('end', () => socket.end(OK_ANSWER));
      }),
  },
};

const dripping = (head: string, text: string) =>
  asked((socket) => {
    socket.write(head);
    drip(socket, text);
  });

const STATUSES = [301, 302, 303, 307, 308] as const;

/** Receivers that send the caller round and round. */
const redirectingReceivers: HostileReceivers = Object.fromEntries(
  STATUSES.map((status) => [
    `redirects to itself with ${status}`,
    {
      end: 'redirect',
      start: () =>
        httpServer((request, response) =>
          response.writeHead(status, { location: `http://${request.headers.host}${request.url}` }).end(),
        ),
    },
  ]),
);

/** Receivers that cannot be reached at all. */
const absentReceivers: HostileReceivers = {
  'has a name that nobody knows': { end: 'dns', start: () => nobodyAt('http://nobody.invalid/') },
  'is at an address where callbacks never go': { end: 'blocked_address', start: () => nobodyAt('http://10.0.0.1/') },
  // A privileged port on which no service of today listens.
  'does not listen': { end: 'connect_refused', start: () => nobodyAt('http://127.0.0.1:2/') },
  // No TCP connection is ever made to the broadcast address, whatever the network.
  'is where no way leads': { end: 'unreachable', start: () => nobodyAt('http://255.255.255.255/') },
  'lets nobody through': { end: 'connect_timeout', start: blackHole },
};

async function nobodyAt(url: string): Promise<Started> {
  return { url, [Symbol.asyncDispose]: async () => undefined };
}

/** A thread that listens and then sleeps: nothing accepts, and a full backlog makes the kernel drop what comes. */
const SLEEPING_LISTENER = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });`;
const MORE_THAN_THE_BACKLOG = 8;

async function blackHole(): Promise<Started> {
  const listener = new Worker(SLEEPING_LISTENER, { eval: true });
  const [port] = (await once(listener, 'message')) as [number];
  const waiting = Array.from({ length: MORE_THAN_THE_BACKLOG }, () =>
    connect(port, '127.0.0.1').on('error', () => undefined),
  );
  const [first] = waiting;
  if (first !== undefined) await once(first, 'connect');
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      for (const socket of waiting) socket.destroy();
      await listener.terminate();
    },
  };
}

/** Every way to misbehave that is known, with how it ends: docs/failure-reasons.md. */
export const hostileReceivers: HostileReceivers = {
  ...absentReceivers,
  ...secureReceivers,
  ...slowReceivers,
  ...closingReceivers,
  ...garblingReceivers,
  ...redirectingReceivers,
  ...endlessReceivers,
};
