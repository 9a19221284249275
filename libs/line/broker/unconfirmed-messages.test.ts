import { describe, expect, test } from '@jest/globals';
import type { ConfirmChannel } from 'amqplib';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import type { Publication } from '../messages.ts';
import { UnconfirmedMessages } from './unconfirmed-messages.ts';

const publication: Publication = { kind: 'publish', exchange: 'e', routingKey: 'k', body: Buffer.from('{}') };
/** On a channel whose confirms come when they are called. */
function aChannel(limits = { messages: 10, bytes: 1_000 }) {
  const clock = new TurnedClock();
  const unconfirmed = new UnconfirmedMessages({ clock, limits });
  const confirms: ((refusal: Error | null) => void)[] = [];
  const publish: ConfirmChannel['publish'] = (_exchange, _key, _body, _options, confirm) =>
    confirms.push((refusal) => confirm?.(refusal, {})) > 0;
  unconfirmed.open({ publish } as ConfirmChannel);
  const settled: string[] = [];
  const send = (bytes: number) => {
    const what = { ...publication, body: Buffer.alloc(bytes) };
    unconfirmed.send(what, (error) => settled.push(error?.message ?? 'confirmed'));
  };
  return { clock, unconfirmed, confirms, settled, send };
}

describe('UnconfirmedMessages', () => {
  test('tells what is overdue, counted anew where its clock is started again', () => {
    const { clock, unconfirmed, send } = aChannel();
    expect(unconfirmed.isOverdue(1_000)).toBe(false);
    send(2);
    clock.skipTo(1_000);
    expect(unconfirmed.isOverdue(1_000)).toBe(false);
    clock.skipTo(1_001);
    expect(unconfirmed.isOverdue(1_000)).toBe(true);
    unconfirmed.startClocksAgain();
    expect(unconfirmed.isOverdue(1_000)).toBe(false);
  });

  test('sends so many at once, and the next when one is settled, well or not', () => {
    const { confirms, settled, send } = aChannel({ messages: 2, bytes: 1_000 });
    for (let count = 0; count < 4; count += 1) send(1);
    expect(confirms).toHaveLength(2);
    confirms[0]?.(null);
    expect(confirms).toHaveLength(3);
    confirms[1]?.(new Error('no'));
    expect(confirms).toHaveLength(4);
    expect(settled).toEqual(['confirmed', 'publish not confirmed: no']);
  });

  test('sends all that fit when a big one is settled', () => {
    const { confirms, send } = aChannel({ messages: 10, bytes: 100 });
    for (const bytes of [1_000, 10, 10, 10]) send(bytes);
    expect(confirms).toHaveLength(1);
    confirms[0]?.(null);
    expect(confirms).toHaveLength(4);
  });

  test('settles all that was sent, or waits to be, when the channel is gone', () => {
    const { unconfirmed, settled, send } = aChannel({ messages: 2, bytes: 1_000 });
    for (let count = 0; count < 4; count += 1) send(1);
    unconfirmed.close('it is gone');
    expect(settled).toHaveLength(4);
    expect(unconfirmed.size).toBe(0);
  });
});
