import { randomInt } from 'node:crypto';
import { closeSync, lstatSync, mkdirSync, openSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressesIn } from '@waybell/runtime/addresses';

// Below the range that systems take outgoing ports from, so that a port stays free while its server is restarted.
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

// Between finding a port free and listening on it lie seconds, on a slow machine minutes, and a server that was killed is
// started again where it was: meanwhile another stack of this user may look for a port.
// The id, not the name: in a container a user may have none.
const RESERVATIONS = join(tmpdir(), `waybell-ports-${process.getuid?.()}`);
const RESERVED_MS = 3_600_000;

const DEFAULT_PORTS: Record<string, number> = {
  'amqp:': 5672,
  'amqps:': 5671,
  'postgres:': 5432,
  'postgresql:': 5432,
  'redis:': 6379,
  'rediss:': 6379,
  'redis+sentinel:': 26379,
  'rediss+sentinel:': 26379,
};

/** A loopback port that no process listens on and that is not in `taken`; `preferred` when it is one. */
export async function freePort({ preferred, taken }: { preferred?: number; taken: Set<number> }): Promise<number> {
  const candidates = preferred === undefined ? [] : [preferred];
  for (let tries = 0; tries < 1_000; tries += 1) {
    const port = candidates.pop() ?? randomInt(FIRST_PORT, LAST_PORT);
    if (!taken.has(port) && (port === preferred || reserve(port)) && (await isFree(port))) {
      taken.add(port);
      return port;
    }
  }
  throw new Error(`no free port on 127.0.0.1 between ${FIRST_PORT} and ${LAST_PORT}`);
}

/** True when the port is this caller's to try: no other has reserved it in the last hour. */
function reserve(port: number): boolean {
  // Whether the port is free decides alone, then.
  if (!isOurs(RESERVATIONS)) return true;
  const file = join(RESERVATIONS, String(port));
  try {
    closeSync(openSync(file, 'wx'));
    return true;
  } catch {
    return isStale(file);
  }
}

/** Notes whose port it is from now on. */
export function noteOwner(port: number, home: string): void {
  if (isOurs(RESERVATIONS)) writeFileSync(join(RESERVATIONS, String(port)), home);
}

/** The folder of the stack that had the port last; undefined where no stack of this user has, or that is not known. */
export function ownerOf(port: number): string | undefined {
  if (!isOurs(RESERVATIONS)) return undefined;
  try {
    return readFileSync(join(RESERVATIONS, String(port)), 'utf8') || undefined;
  } catch {
    return undefined;
  }
}

/** Whether only this user can write to the folder, which is made if need be. In a shared folder others may have taken its name. */
export function isOurs(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700, recursive: true });
    const found = lstatSync(folder);
    return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  } catch {
    return false;
  }
}

function isStale(file: string): boolean {
  try {
    if (Date.now() - lstatSync(file).mtimeMs < RESERVED_MS) return false;
    utimesSync(file, new Date(), new Date());
    return true;
  } catch {
    return true;
  }
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** Whether something listens there. */
export async function reaches({ host, port }: { host: string; port: number }, limitMs = 1_000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: limitMs });
    const answer = (reached: boolean) => {
      socket.destroy();
      resolve(reached);
    };
    socket.once('connect', () => answer(true));
    socket.once('timeout', () => answer(false));
    socket.once('error', () => answer(false));
  });
}

/** Whether something listens at any address of a server's URL. */
export async function reachesAny(url: string): Promise<boolean> {
  const reached = await Promise.all(addressesIn(url).map((address) => reaches(hostAndPort(address))));
  return reached.includes(true);
}

/** Host and port of a server's URL. */
export function hostAndPort(address: string): { host: string; port: number } {
  const { protocol, hostname, port } = new URL(address);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (DEFAULT_PORTS[protocol] ?? 0) };
}
