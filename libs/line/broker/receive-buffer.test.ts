import { describe, expect, test } from '@jest/globals';
import type { Source } from '../messages.ts';
import type { ConsumedMessage } from './consumed-channel.ts';
import { ReceiveBuffer } from './consumers.ts';

const KIB = 2 ** 10;
const MIB = 2 ** 20;

/** A message with the members that `ReceiveBuffer` uses. */
class Sent implements Pick<ConsumedMessage, 'count' | 'weight' | 'bytes' | 'isWhole' | 'letGo' | 'giveBack'> {
  readonly count = 1;
  readonly weight: number;
  readonly name: string;
  isWhole = true;
  isGivenBack = false;
  #buffer: ReceiveBuffer;

  constructor(buffer: ReceiveBuffer, name: string, weight: number) {
    [this.#buffer, this.name, this.weight] = [buffer, name, weight];
  }

  get bytes(): number {
    return this.isWhole ? this.weight : 0;
  }

  letGo(): void {
    this.isWhole = false;
  }

  giveBack(): void {
    this.isGivenBack = true;
    this.#buffer.settled(this.real);
  }

  get real(): ConsumedMessage {
    return this as unknown as ConsumedMessage;
  }
}

function aHold(bytes: number, messages = 100) {
  const opened: string[] = [];
  /** Whether the message still had its body at `onCut`, by name. */
  const cut: Record<string, boolean> = {};
  const nameOf = (source: Source) => (source as unknown as Sent).name;
  const onTaken = (source: Source) => void opened.push(nameOf(source));
  const onCut = (source: Source) => void (cut[nameOf(source)] = (source as unknown as Sent).isWhole);
  const buffer = new ReceiveBuffer({ limit: { messages, bytes }, onTaken, onCut });
  const send = (name: string, weight: number) => {
    const sent = new Sent(buffer, name, weight);
    buffer.take(sent.real);
    return sent;
  };
  return { buffer, opened, cut, send, settle: (sent: Sent) => buffer.settled(sent.real) };
}

describe('ReceiveBuffer', () => {
  test('opens what fits into the bytes, the oldest first', () => {
    const { opened, send, settle } = aHold(100);
    const first = send('first', 60);
    send('second', 60);
    send('third', 10);
    expect(opened).toEqual(['first']);
    settle(first);
    expect(opened).toEqual(['first', 'second', 'third']);
  });

  test('opens small ones beside large ones that wait', () => {
    const { opened, send, settle: settled } = aHold(4 * MIB);
    const first = send('first', KIB);
    for (const name of ['one', 'two', 'three', 'four']) send(name, MIB);
    send('small', KIB);
    expect(opened).toEqual(['first', 'one', 'two', 'three']);
    settled(first);
    expect(opened).toEqual(['first', 'one', 'two', 'three', 'small']);
    const { opened: later, send: put, settle } = aHold(4 * MIB);
    const large = ['one', 'two', 'three', 'four'].map((name) => put(name, MIB));
    put('small', KIB);
    settle(large[0]!);
    expect(later).toEqual(['one', 'two', 'three', 'four', 'small']);
  });

  test('opens one that is larger than all that may be in hand, once no other large one is', () => {
    const { opened, send, settle } = aHold(4 * MIB);
    const first = send('first', MIB);
    send('small', KIB);
    const huge = send('huge', 15 * MIB);
    expect(opened).toEqual(['first', 'small']);
    expect(huge.isWhole).toBe(false);
    settle(first);
    expect(huge.isGivenBack).toBe(true);
    send('huge again', 15 * MIB);
    expect(opened).toEqual(['first', 'small', 'huge again']);
  });

  test('lets go of bytes beyond 8 MiB that wait, and gives those back when they may be opened', () => {
    const { opened, send, settle } = aHold(4 * MIB);
    const sent = Array.from({ length: 20 }, (_, number) => send(String(number), MIB));
    expect(opened).toHaveLength(3);
    expect(sent.filter(({ isWhole }) => !isWhole)).toHaveLength(9);
    for (const each of sent.slice(0, 11)) settle(each);
    // Messages with a body are opened; of the others, no more are received again than there is room for.
    expect(opened).toHaveLength(11);
    expect(sent.filter(({ isGivenBack }) => isGivenBack).length).toBeGreaterThan(0);
    expect(sent.filter(({ isGivenBack }) => isGivenBack).length).toBeLessThanOrEqual(9);
  });

  test('opens all of them in the end, whatever is let go of, and fetches few more than twice', () => {
    const { opened, send, settle } = aHold(4 * MIB);
    const sent = new Map(Array.from({ length: 60 }, (_, number) => [String(number), send(String(number), 15 * MIB)]));
    let fetched = sent.size;
    for (let next = 0; next < 60; next += 1) {
      const open = sent.get(opened[next] ?? '');
      if (open === undefined) throw new Error(`only ${opened.length} were opened`);
      settle(open);
      for (const [name, { isGivenBack }] of sent) {
        if (!isGivenBack) continue;
        fetched += 1;
        sent.set(name, send(name, 15 * MIB));
      }
    }
    expect(new Set(opened).size).toBe(60);
    expect(fetched).toBeLessThanOrEqual(180);
  });

  test('tells of each that goes back while it can be read, so that its return kills no process', () => {
    const { buffer, cut, send } = aHold(4 * MIB);
    const sent = Array.from({ length: 13 }, (_, number) => send(String(number), MIB));
    expect(cut).toEqual({ 11: true, 12: true });
    buffer.cut(sent[12]!.real);
    buffer.cut(sent[10]!.real);
    buffer.giveBackAll();
    expect(Object.keys(cut)).toHaveLength(10);
    expect(Object.values(cut)).not.toContain(false);
  });
});
