import { describe, expect, test } from '@jest/globals';
import type { ConfirmChannel } from 'amqplib';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import type { Publication } from '../messages.ts';
import { UnconfirmedMessages } from './unconfirmed-messages.ts';

const publication: Publication = { kind: 'publish', exchange: 'e', routingKey: 'k', body: Buffer.from('{}') };
/** A broker that says nothing. */
const silent = { publish: () => true } as unknown as ConfirmChannel;

describe('UnconfirmedMessages', () => {
  test('tells what is overdue, counted anew where its clock is started again', async () => {
    const clock = new TurnedClock();
    const unconfirmed = new UnconfirmedMessages(clock);
    expect(unconfirmed.isOverdue(1_000)).toBe(false);
    void unconfirmed.send(silent, publication).catch(() => undefined);
    clock.skipTo(1_000);
    expect(unconfirmed.isOverdue(1_000)).toBe(false);
    clock.skipTo(1_001);
    expect(unconfirmed.isOverdue(1_000)).toBe(true);
    unconfirmed.startClocksAgain();
    expect(unconfirmed.isOverdue(1_000)).toBe(false);
  });
});
