import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { ConfirmChannel } from 'amqplib';
import type { Publication } from '../messages.ts';
import { UnconfirmedMessages } from './unconfirmed-messages.ts';

const publication: Publication = { kind: 'publish', exchange: 'e', routingKey: 'k', body: Buffer.from('{}') };
/** A broker that says nothing. */
const silent = { publish: () => true } as unknown as ConfirmChannel;
const HOUR_MS = 3_600_000;

afterEach(() => {
  jest.restoreAllMocks();
});

describe('UnconfirmedMessages', () => {
  test.each([HOUR_MS, -HOUR_MS])('tells what is overdue, though the machine’s clock is set by %d ms', (stepMs) => {
    const unconfirmed = new UnconfirmedMessages();
    void unconfirmed.send(silent, publication).catch(() => undefined);
    const setTo = Date.now() + stepMs;
    jest.spyOn(Date, 'now').mockReturnValue(setTo);
    expect(unconfirmed.isOverdue(HOUR_MS / 2)).toBe(false);
    expect(unconfirmed.isOverdue(-1)).toBe(true);
  });
});
