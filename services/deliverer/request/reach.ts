import type { Clock } from '@waybell/runtime/clock';
import type { Reach } from '../egress/egress.ts';
import type { Connection, Connector } from './connection.ts';
import { mayAskForCertificate } from './failure-reason.ts';
import { BlockedAddress } from './safe-address.ts';

export type ReachOptions = {
  connect: Connector;
  /** In milliseconds. */
  limitMs: number;
  clock: Clock;
};

/** Connects as callbacks do without credentials, TLS included, and sends nothing. Where only a certificate is missing, it is reached. */
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
        // Receivers cannot share an address that callbacks must not reach.
        if (error instanceof BlockedAddress) delete connection.ip;
        end(error === null || (connection.hasShownItself === true && mayAskForCertificate(error)));
      });
    });
}
