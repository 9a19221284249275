import { expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { TestBroker } from '../testing/test-broker.ts';
import { close, openChannel } from '../broker/broker-connection.ts';
import { connectOnce } from './connect-once.ts';

const broker = shared(() => TestBroker.start());

test.each(['channel', 'connection'] as const)('a close ends with a %s that is lost before the answer', async (what) => {
  const connection = await connectOnce(broker.detour);
  const channel = await openChannel(connection);
  broker.detour.stall();
  let isClosed = false;
  const closing = close({ channel, connection }[what]).then(() => (isClosed = true));
  const said = broker.detour.said.length;
  await until('the broker is told', () => broker.detour.said.length > said);
  expect(isClosed).toBe(false);
  broker.detour.cut();
  await until('it has ended', () => isClosed);
  await closing;
  broker.detour.flow();
});

test('a close of what is closed already rejects', async () => {
  const connection = await connectOnce(broker.detour);
  await close(connection);
  await expect(close(connection)).rejects.toThrow('closed');
});
