import { describe, expect, test } from '@jest/globals';
import type { Channel, ChannelModel } from 'amqplib';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { TestBroker } from '../testing/test-broker.ts';
import { keepConnected, type ReconnectOptions } from './broker-connection.ts';

const broker = shared(() => TestBroker.start());

/** A connection whose heartbeat would not notice a silent broker for ten minutes. */
function aLink(options: Partial<ReconnectOptions> = {}) {
  const clock = new TurnedClock();
  const heard: string[] = [];
  const link = keepConnected({
    url: broker.detour.url,
    name: 'the link',
    heartbeatSeconds: 600,
    log,
    clock,
    onOpen: async () => undefined,
    onDown: () => heard.push('down'),
    onState: (state) => heard.push(state),
    ...options,
  });
  return { link, clock, heard };
}

/** Returns an `onOpen` that checks a queue on the control channel. */
const asks = (queue: string) => async (_connection: ChannelModel, control: Channel) => {
  await control.checkQueue(queue);
};

describe('a connection that the broker does not answer', () => {
  test.each([
    ['while it is made', 'the link', async () => undefined],
    ['while it is set up', 'waybell.rejected', asks('waybell.rejected')],
  ])('%s is given up in the end, and made again', async (_, where, onOpen) => {
    broker.detour.stallAt(where);
    const { link, clock, heard } = aLink({ onOpen });
    await using _link = link;
    const said = broker.detour.said.length;
    await until('it has asked', () => broker.detour.said.slice(said).includes(where));
    await clock.runFor(44_999);
    expect(heard).toEqual([]);
    await clock.runFor(1);
    await until('it is given up', () => heard.length > 0);
    expect(heard).toEqual(['down']);
    broker.detour.flow();
    await until('it is made again', () => link.state() === 'writable');
  });

  test('and that could not be set up either, and is cut while it is closed, is made again', async () => {
    let failures = 0;
    const { link, heard } = aLink({
      onOpen: async () => {
        if ((failures += 1) > 1) return;
        // The broker answers nothing from here on, not even the close.
        broker.detour.stall('everything');
        throw new Error('it could not be set up');
      },
    });
    await using _link = link;
    await until('it has failed', () => heard.length === 1);
    broker.detour.cut();
    broker.detour.flow();
    await until('it is made again', () => link.state() === 'writable');
  });
});

describe('a link to a cluster', () => {
  test('goes on to the next node where one is lost, or cannot be reached', async () => {
    const gone = new URL(broker.detour.url);
    gone.port = '1';
    const { link, heard } = aLink({ url: `${gone.href},${broker.detour.url}` });
    await using _link = link;
    await until('it is at the one that is there', () => link.state() === 'writable');
    link.drop('no longer wanted');
    await until('it is back', () => link.state() === 'writable');
    expect(heard.slice(-4)).toEqual(['down', 'away', 'down', 'writable']);
  });
});

describe('a link', () => {
  test('tells what changed, once', async () => {
    const { link, heard } = aLink();
    await using _link = link;
    await until('it is there', () => link.state() === 'writable');
    link.drop('no longer wanted');
    link.drop('no longer wanted');
    expect(heard).toEqual(['writable', 'down', 'away']);
    await until('it is back', () => link.state() === 'writable');
    broker.detour.cut();
    await until('it was noticed', () => heard.length >= 6);
    expect(heard.slice(3, 6)).toEqual(['writable', 'down', 'away']);
  });

  test('that is closed while it connects leaves nothing open', async () => {
    broker.detour.stallAt('the link');
    const { link, heard } = aLink();
    const said = broker.detour.said.length;
    await until('it has asked', () => broker.detour.said.slice(said).includes('the link'));
    await link[Symbol.asyncDispose]();
    expect(heard).toEqual([]);
    broker.detour.flow();
  });
});
