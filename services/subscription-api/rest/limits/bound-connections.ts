import type { Server, ServerResponse } from 'node:http';
import { isAllowedAddress, readNetworks } from '@waybell/runtime/networks';
import { ipKeyGenerator } from 'express-rate-limit';

/** Limits of the connections to a server. */
export type ConnectionBounds = {
  connectionLimit: number;
  /** Counted for each address (IPv6: its /56); a proxy's own is not bounded. */
  connectionsPerAddress: number;
  /** Networks of proxies in front. */
  trustedProxies: readonly string[];
  /** From the first byte of an answer to its end: who reads more slowly has its connection cut. */
  answerTimeoutMs: number;
  /** A slow answer ends at most this much late. */
  lookEveryMs: number;
};

const REQUESTS_PER_CONNECTION = 1_000;

/** Calls `refused` for each connection that is closed at once. */
export function boundConnections(server: Server, bounds: ConnectionBounds, refused: () => void): void {
  server.maxConnections = bounds.connectionLimit;
  server.maxRequestsPerSocket = REQUESTS_PER_CONNECTION;
  server.on('drop', refused);
  boundAddresses(server, bounds, refused);
  boundAnswers(server, bounds);
}

function boundAddresses(
  server: Server,
  { connectionsPerAddress, trustedProxies }: ConnectionBounds,
  refused: () => void,
): void {
  const proxies = readNetworks(trustedProxies);
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const { remoteAddress = '' } = socket;
    if (isAllowedAddress(remoteAddress, proxies)) return;
    const address = ipKeyGenerator(remoteAddress);
    const count = (open.get(address) ?? 0) + 1;
    if (count > connectionsPerAddress) {
      refused();
      socket.destroy();
      return;
    }
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}

const endless = new WeakSet<ServerResponse>();

/** Cuts an answer that never ends only if its reader takes none of its buffered bytes for that long. */
export function boundByReading(answer: ServerResponse): void {
  endless.add(answer);
}

function boundAnswers(server: Server, { answerTimeoutMs, lookEveryMs }: ConnectionBounds): void {
  /** Until when each is to be out; unknown before it begins. */
  const open = new Map<ServerResponse, number | undefined>();
  server.on('request', (_request, answer) => {
    open.set(answer, undefined);
    answer.once('close', () => open.delete(answer));
  });
  const look = setInterval(() => {
    const now = performance.now();
    for (const [answer, dueAt] of open) {
      const isRead = endless.has(answer) && answer.writableLength === 0;
      if (answer.headersSent && (dueAt === undefined || isRead)) open.set(answer, now + answerTimeoutMs);
      // Answers that wait for their turn on the connection have no socket of their own yet.
      else if (dueAt !== undefined && dueAt < now) answer.req.socket.destroy();
    }
  }, lookEveryMs);
  server.once('close', () => clearInterval(look));
}
