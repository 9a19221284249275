import { EventEmitter } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import type { ConfirmChannel } from 'amqplib';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import type { Publication } from '../messages.ts';
import type { DestinationReport } from './destination-channel.ts';
import { UnconfirmedMessages } from './publisher.ts';

type Confirm = (refusal: Error | null) => void;

/** A channel that the test lets confirm, oldest first, or close. */
class HandChannel extends EventEmitter {
  readonly confirms: Confirm[] = [];
  publish: ConfirmChannel['publish'] = (_exchange, _key, _body, _options, confirm) =>
    this.confirms.push((refusal) => confirm?.(refusal, {})) > 0;

  close = async () => {
    this.emit('close');
    // Like amqplib.
    for (const confirm of this.confirms) confirm(new Error('channel closed'));
  };

  fail(message: string) {
    this.emit('error', new Error(message));
    void this.close();
  }
}

const aPublication = (routingKey: string, bytes: number): Publication => ({
  kind: 'publish',
  exchange: 'e',
  routingKey,
  body: Buffer.alloc(bytes),
  messageId: 'm',
});

const CONFIRM_LIMIT_MS = 30_000;

/** Collects channels in the order of opening, results by routing key, and reports. */
function aConnection(limits = { messages: 1_000, bytes: 1_000_000 }) {
  const clock = new TurnedClock();
  const reports: DestinationReport[] = [];
  const unconfirmed = new UnconfirmedMessages({ clock, limits, report: (each) => void reports.push(each) });
  const channels: HandChannel[] = [];
  unconfirmed.open(async () => {
    const channel = new HandChannel();
    channels.push(channel);
    // Has the members of a channel that publishing uses.
    return channel as unknown as ConfirmChannel;
  });
  const fates: Record<string, string[]> = {};
  const send = (routingKey: string, { count = 1, bytes = 1 } = {}) => {
    for (let sent = 0; sent < count; sent += 1)
      unconfirmed.send(aPublication(routingKey, bytes), (error) =>
        (fates[routingKey] ??= []).push(error?.name ?? 'confirmed'),
      );
    return settled();
  };
  /** Does the checks of `ConfirmWatch`, while the broker answers its requests. */
  const look = (ms: number) => {
    clock.skipTo(clock.now() + ms);
    unconfirmed.heard(clock.now());
    unconfirmed.detectStalls();
    unconfirmed.giveUpOn(CONFIRM_LIMIT_MS);
  };
  return { clock, unconfirmed, channels, fates, send, look, reports };
}

const fatesOf = (fates: string[] = []) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(fates, (fate) => fate)).map(([fate, all = []]) => [fate, all.length]),
  );

describe('UnconfirmedMessages', () => {
  test('sends so many at once, and the next when one is settled, well or not', async () => {
    const { channels, fates, send } = aConnection({ messages: 2, bytes: 1_000 });
    await send('a', { count: 4 });
    const [{ confirms } = new HandChannel()] = channels;
    expect(confirms).toHaveLength(2);
    confirms[0]?.(null);
    expect(confirms).toHaveLength(3);
    confirms[1]?.(new Error('no'));
    expect(confirms).toHaveLength(4);
    expect(fates['a']).toEqual(['confirmed', 'Unconfirmed']);
  });

  test('sends all that fit when a big one is settled', async () => {
    const { channels, send } = aConnection({ messages: 10, bytes: 100 });
    await send('a', { bytes: 1_000 });
    await send('a', { count: 3, bytes: 10 });
    expect(channels[0]?.confirms).toHaveLength(1);
    channels[0]?.confirms[0]?.(null);
    expect(channels[0]?.confirms).toHaveLength(4);
  });

  test('lets no destination have all the room, and gives what is free to each in turn', async () => {
    const { channels, send } = aConnection({ messages: 200, bytes: 1_000_000 });
    await send('a', { count: 1_000 });
    expect(channels[0]?.confirms).toHaveLength(128);
    await send('b', { count: 100 });
    await send('c', { count: 100 });
    expect(channels.map(({ confirms }) => confirms.length)).toEqual([128, 72, 0]);
    for (const confirm of channels[1]?.confirms.slice(0, 20) ?? []) confirm(null);
    expect(channels.map(({ confirms }) => confirms.length)).toEqual([128, 82, 10]);
  });

  test('settles all that was sent, or waits to be, when the connection is gone', async () => {
    const { unconfirmed, fates, send } = aConnection({ messages: 2, bytes: 1_000 });
    await send('a', { count: 4 });
    void send('b');
    unconfirmed.close('it is gone');
    await send('a');
    expect(fatesOf(fates['a'])).toEqual({ Unconfirmed: 5 });
    expect(fatesOf(fates['b'])).toEqual({ Unconfirmed: 1 });
    expect(unconfirmed.size).toBe(0);
  });

  test('goes on by another channel where one is closed; what was on its way is settled', async () => {
    const { channels, fates, send } = aConnection({ messages: 2, bytes: 1_000 });
    await send('a', { count: 4 });
    channels[0]?.fail('no exchange');
    await settled();
    expect(fatesOf(fates['a'])).toEqual({ Unconfirmed: 2 });
    expect(channels[1]?.confirms).toHaveLength(2);
  });

  test('says that nothing was answered for so long, unless anything was', async () => {
    const { clock, unconfirmed, channels, send } = aConnection();
    await send('a');
    await send('b');
    clock.skipTo(1_000);
    expect(unconfirmed.isSilent(1_000)).toBe(false);
    clock.skipTo(1_001);
    expect(unconfirmed.isSilent(1_000)).toBe(true);
    channels[1]?.confirms[0]?.(null);
    expect(unconfirmed.isSilent(1_000)).toBe(false);
    clock.skipTo(2_002);
    expect(unconfirmed.isSilent(1_000)).toBe(true);
    unconfirmed.restartClocks();
    expect(unconfirmed.isSilent(1_000)).toBe(false);
  });
});

describe('a destination that does not confirm while the broker answers', () => {
  test('stalls after two seconds: what was sent and what waits is for others to keep, and what comes is refused, until it confirms again', async () => {
    const { channels, fates, send, look, reports, unconfirmed } = aConnection();
    await send('a', { count: 130 });
    look(2_000);
    expect(reports).toEqual([]);
    look(1);
    expect(fatesOf(fates['a'])).toEqual({ Stalled: 130 });
    expect(unconfirmed.stalled()).toEqual([{ exchange: 'e', routingKey: 'a' }]);
    await send('a');
    expect(fatesOf(fates['a'])).toEqual({ Stalled: 131 });
    channels[0]?.confirms[0]?.(null);
    await send('a');
    expect(channels[0]?.confirms).toHaveLength(129);
    expect(reports).toEqual([
      { kind: 'stalled', unconfirmed: 128 },
      { kind: 'confirms again', stalledMs: 0 },
    ]);
  });

  test('does not stall where all are late alike', async () => {
    const { clock, unconfirmed, channels, send, reports } = aConnection();
    await send('a');
    await send('b');
    for (let second = 0; second < 10; second += 1) {
      clock.skipTo(second * 1_000);
      await send('b');
      // Four seconds late.
      if (second >= 4) channels[1]?.confirms.shift()?.(null);
      if (second >= 4) channels[0]?.confirms.shift()?.(null);
      unconfirmed.detectStalls();
      await send('a');
    }
    expect(reports).toEqual([]);
  });

  test('takes no room from others, however many stall', async () => {
    const { channels, send, look } = aConnection({ messages: 300, bytes: 1_000_000 });
    for (const key of ['a', 'b']) await send(key, { count: 128 });
    look(2_001);
    await send('c', { count: 128 });
    await send('d', { count: 128 });
    expect(channels.map(({ confirms }) => confirms.length)).toEqual([128, 128, 128, 128]);
    // They count again once they confirm.
    for (const channel of channels.slice(0, 2)) channel.confirms[0]?.(null);
    await send('e', { count: 128 });
    expect(channels[4]?.confirms).toHaveLength(0);
  });

  test('is no longer waited for when the time for confirms is over, and lets one through now and then', async () => {
    const { channels, fates, send, look } = aConnection();
    await send('a', { count: 2 });
    look(2_001);
    look(CONFIRM_LIMIT_MS - 2_001);
    await send('a');
    expect(channels.map(({ confirms }) => confirms.length)).toEqual([2]);
    look(2_001);
    await send('a', { count: 3 });
    expect(fatesOf(fates['a'])).toEqual({ Stalled: 5 });
    expect(channels.map(({ confirms }) => confirms.length)).toEqual([2, 1]);
    // A late confirm also ends the stall.
    channels[0]?.confirms[0]?.(null);
    await send('a');
    expect(channels[1]?.confirms).toHaveLength(2);
  });

  test('does not stall for one confirm that never comes while others do, and gives up on that', async () => {
    const { channels, fates, send, look, reports } = aConnection();
    await send('a');
    for (let second = 0; second < 31; second += 1) {
      await send('a');
      look(1_000);
      channels[0]?.confirms.splice(1).forEach((confirm) => confirm(null));
    }
    expect(reports).toEqual([]);
    expect(fatesOf(fates['a'])).toEqual({ confirmed: 31, Unconfirmed: 1 });
  });

  test('does not go on for a message that the broker refuses because it has waited too long', async () => {
    const { channels, send, look, unconfirmed } = aConnection();
    await send('a', { count: 2 });
    look(2_001);
    channels[0]?.confirms[0]?.(new Error('message nacked'));
    expect(unconfirmed.stalled()).toHaveLength(1);
  });
});

describe('a message that is larger than the broker takes', () => {
  const TOO_LARGE = 'PRECONDITION_FAILED - message size 2000 is larger than configured max size 1000';

  test('is refused, with all that are; the others may have arrived, and what waits goes on', async () => {
    const { channels, fates, send } = aConnection({ messages: 3, bytes: 1_000_000 });
    await send('a', { bytes: 1_000 });
    await send('a', { bytes: 2_000 });
    await send('a', { bytes: 1_001 });
    await send('a', { bytes: 1_001 });
    await send('a');
    channels[0]?.fail(TOO_LARGE);
    await settled();
    expect(fates['a']).toEqual(['Unconfirmed', 'TooLarge', 'TooLarge', 'TooLarge']);
    expect(channels[1]?.confirms).toHaveLength(1);
  });

  test('is refused at once from then on, on any connection', async () => {
    const { unconfirmed, channels, fates, send } = aConnection();
    await send('a', { bytes: 2_000 });
    channels[0]?.fail(TOO_LARGE);
    unconfirmed.close('it is gone');
    await send('b', { bytes: 1_001 });
    expect(fates['b']).toEqual(['TooLarge']);
  });
});
