import type { Socket } from 'node:net';
import { systemClock, type Clock } from '@waybell/runtime/clock';
import { Client, type buildConnector, type Dispatcher } from 'undici';

/** What is known of a connection so far: where it leads, and when each part of making it was done, by its clock. */
export type Connection = {
  readonly clock: Clock;
  readonly begunAt: number;
  /** The address it leads to, or that is being tried, or that it must not lead to. */
  ip?: string;
  resolvedAt?: number;
  connectedAt?: number;
  securedAt?: number;
};

/** Where to connect to, and where to note what becomes known on the way. */
export type ConnectTarget = buildConnector.Options & { connection: Connection };
export type Connector<Target = ConnectTarget> = (target: Target, done: buildConnector.Callback) => void;

/** Told, before its request is sent, where to ask for the connection that it goes over or waits for. */
export type Attendant = Dispatcher.DispatchHandler & { attend?: (connection: () => Connection | undefined) => void };

export type ClientOptions = Omit<Client.Options, 'connect'> & { connect: Connector; clock?: Clock };

/** undici's client, which has one connection at a time, for requests that want to know about theirs. */
export function openClient(origin: URL, { connect, clock = systemClock, ...options }: ClientOptions): Client {
  let connection: Connection | undefined;
  const client = new Client(origin, {
    ...options,
    connect(target, done) {
      connection = { clock, begunAt: clock.now() };
      connect({ ...target, connection }, done);
    },
  });
  const latest = () => connection;
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (request, handler: Attendant) => {
    handler.attend?.(latest);
    return dispatch(request, handler);
  };
  return client;
}

/** Notes what a socket goes through until it is connected. */
export function noteConnecting(socket: Socket, connection: Connection): void {
  socket.once('lookup', () => (connection.resolvedAt = connection.clock.now()));
  // Of several addresses one after the other: the last is the one that answered.
  socket.on('connectionAttempt', (ip) => (connection.ip = ip));
  socket.once('connect', () => (connection.connectedAt = connection.clock.now()));
  socket.once('secureConnect', () => (connection.securedAt = connection.clock.now()));
}
