import { httpServer } from '@waybell/deliverer/testing/server';
import type { HostileReceivers } from './hostile-receiver.ts';

const STATUSES = [301, 302, 303, 307, 308] as const;

/** Receivers that send the caller round and round. */
export const redirectingReceivers: HostileReceivers = Object.fromEntries(
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
