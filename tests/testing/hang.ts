import type { ServerResponse } from 'node:http';
import type { Received, Receiver } from './receiver.ts';

/** A path that does not answer until it is told to. */
export type Hang = {
  path: string;
  /** Requests that wait for an answer now. */
  open(): number;
  /** Answers what waits, and from now on everything at once. */
  answer(status: number): void;
  /** Answers everything at once from now on; earlier requests stay without an answer. */
  recover(status: number): void;
};

/** Has a path of the receiver hang; where `hangs` is given, only for those requests, and others are answered with 200. */
export function hang(receiver: Receiver, path: string, hangs: (received: Received) => boolean = () => true): Hang {
  const waiting = new Set<ServerResponse>();
  receiver.answer(path, (response, received) => {
    if (!hangs(received)) return void response.writeHead(200).end();
    waiting.add(response);
    response.on('close', () => waiting.delete(response));
  });
  const recover = (status: number) => receiver.answer(path, status);
  return {
    path,
    open: () => waiting.size,
    answer(status) {
      recover(status);
      for (const response of waiting) response.writeHead(status).end();
    },
    recover,
  };
}
