import { Writable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { settled } from '@waybell/runtime/turned-clock';
import { corkWrites } from './broker-connection.ts';

describe('corkWrites', () => {
  test('sends in one go, in order, what is written in one tick', async () => {
    const sent: string[][] = [];
    const socket = new Writable({
      decodeStrings: false,
      writev(chunks, done) {
        sent.push(chunks.map(({ chunk }) => String(chunk)));
        done();
      },
    });
    corkWrites(socket);
    for (const frame of ['method', 'header', 'body']) socket.write(frame);
    await settled();
    socket.write('next');
    await settled();
    expect(sent).toEqual([['method', 'header', 'body'], ['next']]);
  });

  test('still says when the socket is full', () => {
    const socket = new Writable({ highWaterMark: 4, write: () => undefined });
    corkWrites(socket);
    expect([socket.write('abc'), socket.write('de')]).toEqual([true, false]);
  });
});
