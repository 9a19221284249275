import { expect, test } from '@jest/globals';
import { checkSettings } from './service-process.ts';
import { services } from './services.ts';

test('what no service and no declaration refuses passes, without an address of any server', async () => {
  const right = { LOG_LEVEL: '', DELIVER_SLOTS: '16', EVENTS_QUEUE_LIMIT: '1MiB' };
  await expect(checkSettings(services, right)).resolves.toBeUndefined();
});

test('what a receiver on this machine allows is taken as the services of the stack take it', async () => {
  await expect(checkSettings(services, { CALLBACK_SOURCE_NETWORKS: '127.0.0.1' })).resolves.toBeUndefined();
});

test('all that is wrong is named at once, each once, whichever service reads it', async () => {
  const wrong = {
    LOG_LEVEL: 'loud',
    DELIVER_SLOTS: '0',
    ROUTE_PAUSE_DEPTH: '100',
    EVENTS_QUEUE_LIMIT: '-1',
    REDIS_URL: 'redis',
  };
  const named = await checkSettings(services, wrong).catch((error: Error) =>
    error.message.match(/^ {2}\w+(?=:| is gone)/gm),
  );
  expect(named?.map((name) => name.trim()).toSorted()).toEqual(Object.keys(wrong).toSorted());
});
