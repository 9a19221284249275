import { describe, expect, test } from '@jest/globals';
import { aLine } from './a-line.ts';
import type { Receiver } from './memory-line.ts';

type Taking = { perSecond: number; refusal?: number; retryAfter?: string };

/** Takes so many in each second, and refuses what is more. */
function taking({ perSecond, refusal = 429, retryAfter }: Taking): Receiver {
  const taken = new Map<number, number>();
  return ({ at }) => {
    const second = Math.floor(at / 1_000);
    taken.set(second, (taken.get(second) ?? 0) + 1);
    if ((taken.get(second) ?? 0) <= perSecond) return { status: 200, afterMs: 5 };
    return { status: refusal, afterMs: 5, ...(retryAfter !== undefined && { retryAfter }) };
  };
}

/** Takes so many at once, each for so long, and refuses what is more. */
function takingAtOnce(most: number, afterMs: number): Receiver {
  let busy: number[] = [];
  return ({ at }) => {
    busy = busy.filter((until) => until > at);
    if (busy.length >= most) return { status: 503, afterMs: 1 };
    busy.push(at + afterMs);
    return { status: 200, afterMs };
  };
}

/** Takes what it has saved up, at most so many, and so many a second more. */
function takingFrom(bucket: number, perSecond: number): Receiver {
  let [level, filledAt] = [bucket, 0];
  return ({ at }) => {
    level = Math.min(bucket, level + ((at - filledAt) * perSecond) / 1_000);
    filledAt = at;
    if (level < 1) return { status: 429, afterMs: 5 };
    level -= 1;
    return { status: 200, afterMs: 5 };
  };
}

async function publish(count: number, receiver: Receiver) {
  const { line, subscription, event } = aLine({ receiver });
  for (let each = 0; each < count; each += 1) line.publish(event());
  await line.run();
  const delivered = line.outcomes.filter(({ kind }) => kind === 'delivered').length;
  const attempts = Map.groupBy(line.requests, ({ attempt }) => attempt);
  return {
    line,
    delivered,
    attempts,
    isOff: line.subscriptions.rows.some(({ offAt }) => offAt !== undefined),
    subscription,
  };
}

describe('a receiver of a carrier that takes so much and no more', () => {
  test.each<[string, Taking]>([
    ['20 a second, and says 429', { perSecond: 20 }],
    ['20 a second, and says 503', { perSecond: 20, refusal: 503 }],
    ['20 a second, and asks for a second', { perSecond: 20, retryAfter: '1' }],
    ['5 a second', { perSecond: 5 }],
    ['100 a second', { perSecond: 100 }],
  ])('%s, gets all of 300 at once, and stays on', async (_, how) => {
    const { delivered, isOff, attempts } = await publish(300, taking(how));
    expect({ delivered, isOff }).toEqual({ delivered: 300, isOff: false });
    expect(attempts.get(1)).toHaveLength(300);
  });

  test.each<[string, Receiver, number]>([
    ['two a second', taking({ perSecond: 2 }), 40],
    ['two a second, and asks for a second', taking({ perSecond: 2, retryAfter: '1' }), 40],
    ['one at once', takingAtOnce(1, 60), 100],
    ['one at once, slowly', takingAtOnce(1, 300), 40],
    ['two at once', takingAtOnce(2, 40), 200],
    ['three at once', takingAtOnce(3, 100), 150],
    ['a bucket of ten, and three a second', takingFrom(10, 3), 60],
    ['a bucket of 50, and one a second', takingFrom(50, 1), 80],
  ])('%s, gets all that comes at once, and stays on', async (_, receiver, count) => {
    const { delivered, isOff } = await publish(count, receiver);
    expect({ delivered, isOff }).toEqual({ delivered: count, isOff: false });
  });

  test('is left alone for as long as it asks for by what had no attempt yet, and by nothing else', async () => {
    let beganAt = Infinity;
    const { attempts, line } = await publish(40, ({ at, attempt }) => {
      beganAt = Math.min(beganAt, at);
      return attempt === 1 && at < beganAt + 30_000 ? { status: 503, retryAfter: '30' } : { status: 200 };
    });
    const after = (attempt: number) => (attempts.get(attempt) ?? []).map(({ at }) => at - beganAt);
    const early = after(1).filter((ms) => ms < 1_000);
    expect(early.length).toBeLessThanOrEqual(8);
    expect(after(1).filter((ms) => ms >= 30_000)).toHaveLength(40 - early.length);
    // Each after its second, and none after the rest.
    expect(after(2).filter((ms) => ms < 2_000)).toHaveLength(early.length);
    expect(line.left).toEqual([]);
  });
});
