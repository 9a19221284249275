import type { Socket } from 'node:net';
import type { Clock } from '@waybell/runtime/clock';
import type { buildConnector } from 'undici';
import type { HeadReader } from './head-reader.ts';

/** What is known of a connection so far: where it leads, and when each part of making it was done, by its clock. */
export type Connection = {
  readonly clock: Clock;
  readonly begunAt: number;
  /** The address it leads to, or that is being tried, or that it must not lead to. */
  ip?: string;
  resolvedAt?: number;
  connectedAt?: number;
  securedAt?: number;
  /** What its bytes come over, beneath TLS, and how many had come when the last request over it began. */
  wire?: Socket;
  readBefore?: number;
  /** Reads the heads of its responses. */
  head?: HeadReader;
  /** Requests that began over it. */
  requests?: number;
};

/** The address to connect to, and the place to note what becomes known on the way. */
export type ConnectTarget = buildConnector.Options & { connection: Connection };
export type Connector = (target: ConnectTarget, done: buildConnector.Callback) => void;

/** Notes what a socket goes through until it is connected. */
export function noteConnecting(socket: Socket, connection: Connection): void {
  const { clock } = connection;
  socket.once('lookup', () => (connection.resolvedAt = clock.now()));
  // Several addresses are tried one after the other: the last is the one that answered.
  socket.on('connectionAttempt', (ip) => (connection.ip = ip));
  socket.once('connect', () => (connection.connectedAt = clock.now()));
}

/** What comes over it from now on is said to the request that begins. */
export function beginRequest(connection: Connection): void {
  connection.readBefore = connection.wire?.bytesRead ?? 0;
  connection.requests = (connection.requests ?? 0) + 1;
  connection.head?.expectResponse();
}

/** How much has come over it since its last request began, TLS' own messages included. */
export function bytesSince({ wire, readBefore = 0 }: Connection): number {
  return (wire?.bytesRead ?? 0) - readBefore;
}
