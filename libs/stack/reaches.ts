import { connect } from 'node:net';
import { addressesIn } from '@waybell/runtime/addresses';

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

/** Host and port of a server's URL. */
export function hostAndPort(address: string): { host: string; port: number } {
  const { protocol, hostname, port } = new URL(address);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (DEFAULT_PORTS[protocol] ?? 0) };
}
