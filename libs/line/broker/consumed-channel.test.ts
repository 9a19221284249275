import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Settlements } from './consumed-channel.ts';

/** Tracks unsettled deliveries, and fails on an unknown tag, as RabbitMQ does. */
class Broker {
  readonly unsettled = new Set<number>();

  acknowledged({ tag, isAllUpTo }: { tag: number; isAllUpTo: boolean }): number[] {
    if (!this.unsettled.has(tag)) throw new Error(`unknown delivery tag ${tag}`);
    const gone = isAllUpTo ? [...this.unsettled].filter((each) => each <= tag) : [tag];
    for (const each of gone) this.unsettled.delete(each);
    return gone;
  }
}

type Act = { kind: 'deliver' | 'ack' | 'give back' | 'send'; which: number };
const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom('deliver', 'deliver', 'ack', 'ack', 'ack', 'give back', 'send'),
  which: fc.nat(1_000),
});

describe('settlements', () => {
  test('acknowledge exactly what was acknowledged, and never a tag that the broker has forgotten', () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 200 }), (acts) => {
        const [settlements, broker] = [new Settlements(), new Broker()];
        const [held, acknowledged]: [number[], Set<number>] = [[], new Set()];
        let delivered = 0;
        const send = () => {
          const gone = settlements.take().flatMap((each) => broker.acknowledged(each));
          expect(gone.toSorted((a, b) => a - b)).toEqual([...acknowledged].toSorted((a, b) => a - b));
          acknowledged.clear();
        };
        for (const { kind, which } of acts) {
          const [tag] = kind === 'ack' || kind === 'give back' ? held.splice(which % Math.max(1, held.length), 1) : [];
          if (kind === 'deliver') {
            delivered += 1;
            held.push(delivered);
            broker.unsettled.add(delivered);
          } else if (kind === 'send') send();
          else if (tag !== undefined && kind === 'ack') {
            settlements.acknowledge(tag);
            acknowledged.add(tag);
          } else if (tag !== undefined) {
            settlements.giveBack(tag);
            broker.unsettled.delete(tag);
          }
        }
        send();
        expect([...broker.unsettled]).toEqual(held.toSorted((a, b) => a - b));
      }),
    );
  });

  test('are one for all where nothing older is held, and one for each behind what is', () => {
    const settlements = new Settlements();
    for (const tag of [3, 1, 2, 5]) settlements.acknowledge(tag);
    expect(settlements.take()).toEqual([
      { tag: 3, isAllUpTo: true },
      { tag: 5, isAllUpTo: false },
    ]);
    settlements.acknowledge(4);
    settlements.acknowledge(6);
    expect(settlements.take()).toEqual([{ tag: 6, isAllUpTo: true }]);
    expect(settlements.take()).toEqual([]);
  });
});
