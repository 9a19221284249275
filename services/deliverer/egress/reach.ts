import type { Clock } from '@waybell/runtime/clock';
import type { Connection, Connector } from '../request/connection.ts';
import { BlockedAddress } from '../request/safe-address.ts';

/** Whether a connection could be made, and where it was to lead, as far as that is known. */
export type Reached = { isReached: boolean; address?: string };

/** Connects to an origin as callbacks do, TLS included, and says nothing there. Never rejects. */
export type Reach = (origin: string) => Promise<Reached>;

export type ReachOptions = {
  connect: Connector;
  /** In milliseconds. */
  limitMs: number;
  clock: Clock;
};

export function reaching({ connect, limitMs, clock }: ReachOptions): Reach {
  return (origin) =>
    new Promise((resolve) => {
      const url = URL.parse(origin);
      if (url === null) return resolve({ isReached: false });
      const { protocol, host, hostname, port } = url;
      const connection: Connection = { clock, begunAt: clock.now() };
      const end = (isReached: boolean) => {
        limit[Symbol.dispose]();
        resolve({ isReached, ...(connection.ip === undefined ? {} : { address: connection.ip }) });
      };
      const limit = clock.after(limitMs, () => end(false));
      const to = { protocol, host, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port, connection };
      connect(to, (error, socket) => {
        socket?.on('error', () => undefined).destroy();
        // Where a name must not lead is no place that receivers could share.
        if (error instanceof BlockedAddress) delete connection.ip;
        end(error === null);
      });
    });
}
