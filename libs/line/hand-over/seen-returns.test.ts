import { describe, expect, test } from '@jest/globals';
import { newSourceId, type Message, type Source } from '../messages.ts';
import { SeenReturns } from './effect-runner.ts';

function aSource(messageId: string, deliveryCount: number, queue = 'q'): Source & { raw: Message } {
  const raw = { queue, exchange: '', routingKey: '', body: Buffer.alloc(0), messageId, deliveryCount, failures: 0 };
  return { id: newSourceId(), raw, messages: [raw], acknowledge: () => undefined, giveBack: () => undefined };
}

/** How many processes may have died of a message that returned so often. */
function crashesOf(returns: SeenReturns, ...of: Parameters<typeof aSource>): number | undefined {
  const source = aSource(...of);
  returns.countCrashes(source);
  return source.raw.crashes;
}

describe('each return of a message may have been the crash of a process', () => {
  test('except those that this process saw', () => {
    const returns = new SeenReturns();
    expect(crashesOf(returns, 'x', 0)).toBeUndefined();
    expect(crashesOf(returns, 'x', 3)).toBe(3);
    returns.note(aSource('x', 3));
    returns.note(aSource('x', 4));
    expect(crashesOf(returns, 'x', 5)).toBe(3);
    expect(crashesOf(returns, 'y', 5)).toBe(5);
    expect(crashesOf(returns, 'x', 5, 'other queue')).toBe(5);
  });

  test('of what comes under the same name once it is gone, too', () => {
    const returns = new SeenReturns();
    returns.note(aSource('x', 0));
    returns.forget(aSource('x', 1));
    expect(crashesOf(returns, 'x', 1)).toBe(1);
  });

  test('of the oldest of very many, which this process does not remember', () => {
    const returns = new SeenReturns();
    for (let name = 0; name <= 4_096; name += 1) returns.note(aSource(String(name), 0));
    expect(crashesOf(returns, '0', 1)).toBe(1);
    expect(crashesOf(returns, '1', 1)).toBe(0);
  });
});
