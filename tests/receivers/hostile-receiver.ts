import type { Socket } from 'node:net';
import { sayingServer, tcpServer } from '@waybell/runtime/testing/server';
import type { FailureReason } from '@waybell/line/reasons';
import type { Delivery } from '@waybell/line/delivery';

/** How an attempt ends. */
export type End = 'delivered' | FailureReason;

/** A receiver that misbehaves, and the one end that is documented for it. */
export type HostileReceiver = {
  end: End;
  /** The end of a second request, where it differs. */
  secondEnd?: End;
  /** The request that shows the misbehaviour, if a small carrier delivery does not. */
  request?: Partial<Pick<Delivery, 'interface' | 'body'>>;
  start: () => Promise<Started>;
};

export type Started = AsyncDisposable & { url: string };

/** Receivers by what they do: each name completes the sentence "a receiver that …". */
export type HostileReceivers = Record<string, HostileReceiver>;

/** More than the kernel's buffers on both sides take. */
export const LARGE_BODY = Buffer.alloc(8 * 2 ** 20);

const DRIP_MS = 20;

/** Does this to a connection when a request comes. */
export function asked(act: (socket: Socket) => void): Promise<Started> {
  return tcpServer((socket) => socket.once('data', () => act(socket)));
}

/** Receivers that say this and no more, all with the same end. */
export function saying(end: End, texts: Record<string, string>): HostileReceivers {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, { end, start: () => sayingServer(text) }]),
  );
}

/** Writes the same bytes again and again, as fast as they are taken. */
export function flood(socket: Socket, bytes: string | Buffer): void {
  const push = () => {
    // A reader as fast as this must not keep the process from everything else.
    if (!socket.destroyed && socket.write(bytes)) setImmediate(push);
  };
  socket.on('drain', push);
  push();
}

/** Writes one byte at a time, from the start again when the text is over. */
export function drip(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ''), DRIP_MS);
  socket.on('close', () => clearInterval(timer));
}
