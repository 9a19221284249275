import { describe, expect, test } from '@jest/globals';
import type { EventSourceMessage } from 'eventsource-parser';
import { readEvents } from './listen.ts';
import { PATIENT_MS } from '@waybell/runtime/testing/patience';

function streamOf(chunks: (string | Uint8Array<ArrayBuffer>)[], end: 'ends' | 'is cut' | 'goes on' = 'ends') {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
      if (end === 'ends') controller.close();
      if (end === 'is cut') controller.error(new Error('cut'));
    },
  });
}

async function allOf(events: AsyncIterable<EventSourceMessage>): Promise<EventSourceMessage[]> {
  const all: EventSourceMessage[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('readEvents', () => {
  test('tells each event once it is whole, however its bytes come', async () => {
    const bytes = new TextEncoder().encode('event: request\ndata: {"a":"Ánn"}\n\n');
    const chunks = [
      'retry: 2000\n\n: alive\n\nev',
      'ent: over\ndata: 1\n',
      '\n',
      ...[...bytes].map((byte) => new Uint8Array([byte])),
    ];
    const events = await allOf(readEvents(streamOf(chunks), PATIENT_MS));
    expect(events).toMatchObject([
      { event: 'over', data: '1' },
      { event: 'request', data: '{"a":"Ánn"}' },
    ]);
  });

  test('ends with its stream, and leaves out an event that is not whole', async () => {
    expect(await allOf(readEvents(streamOf(['event: request\ndata: 1\n']), PATIENT_MS))).toEqual([]);
  });

  test.each([
    ['is cut', PATIENT_MS, 'cut'],
    ['goes on', 1, 'nothing came for 0.001 s'],
  ] as const)('throws where the stream %s', async (end, silenceMs, message) => {
    await expect(allOf(readEvents(streamOf([], end), silenceMs))).rejects.toThrow(message);
  });
});
