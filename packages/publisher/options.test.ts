import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import type { PublisherOptions } from './publisher-options.ts';
import { createPublisher } from './publisher.ts';
import { anEvent } from './testing/an-event.ts';

const NOWHERE = 'amqp://127.0.0.1:1';

describe('the options of a publisher', () => {
  test.each<[wrong: string, options: PublisherOptions, message: string]>([
    ['no url', { url: undefined }, 'url is missing: set AMQP_URL'],
    ['an empty url', { url: '' }, 'url is missing: set AMQP_URL'],
    ['a url that is none', { url: 'localhost' }, 'url must be amqp://'],
    ['another scheme', { url: 'http://localhost' }, 'url must be amqp://'],
    ['a wrong one of several', { url: 'amqp://a:5672,amqp://b:99999' }, 'url must be amqp://'],
    ['a number that is none', { url: NOWHERE, heartbeatSeconds: NaN }, 'heartbeatSeconds must be a number above 0'],
    ['no time', { url: NOWHERE, confirmTimeoutMs: 0 }, 'confirmTimeoutMs must be a number above 0'],
    ['a number as text', { url: NOWHERE, bufferBytes: '1' as never }, 'bufferBytes must be a number above 0'],
    ['a user that is no text', { url: NOWHERE, userId: 5 as never }, 'userId must be a text'],
    ['an empty name', { url: NOWHERE, name: '' }, 'name must be a text'],
  ])('are refused at once with %s', (_wrong, options, message) => {
    expect(() => createPublisher(options)).toThrow(message);
  });

  test('show no password where the url is wrong', () => {
    expect(() => createPublisher({ url: 'amq://user:secret@host' })).toThrow(/^(?!.*secret)/);
  });

  test('may be undefined, and are then as if not given', async () => {
    const tls = { ca: undefined, cert: undefined, key: undefined };
    const absent = { userId: undefined, name: undefined, heartbeatSeconds: undefined, confirmTimeoutMs: undefined };
    const publisher = createPublisher({ url: NOWHERE, tls, ...absent, bufferBytes: undefined, log: undefined });
    await expect(publisher.close({ withinMs: undefined })).resolves.toEqual({ unconfirmed: [] });
  });

  test('without a log, have each warning printed once', async () => {
    const script = join(import.meta.dirname, 'testing/without-log.ts');
    const { stderr } = await promisify(execFile)(process.execPath, [script]);
    expect(stderr.match(/WaybellWarning: .*/g)).toEqual([
      expect.stringMatching(/broker\.connect-failed .*127\.0\.0\.1:1/),
    ]);
  });

  test('may hold a log that throws', async () => {
    let said = 0;
    const warn = () => {
      said += 1;
      throw new Error('the log is full');
    };
    const publisher = createPublisher({ url: NOWHERE, log: { info: warn, warn } });
    await until('it tries again', () => said > 1);
    await publisher.close();
  });
});

describe('a publisher that is closed', () => {
  test('gives all that close it the same answer, with everything that was not confirmed', async () => {
    const publisher = createPublisher({ url: NOWHERE });
    const refused = [1, 2].map((id) => publisher.publish(anEvent(id)).catch(({ guid }) => guid));
    const answers = await Promise.all([publisher.close({ withinMs: 0 }), publisher.close()]);
    const unconfirmed = await Promise.all(refused);
    expect([...answers, await publisher.close()]).toEqual([{ unconfirmed }, { unconfirmed }, { unconfirmed }]);
  });

  test('is not ready, says so, and has nobody wait', async () => {
    const publisher = createPublisher({ url: NOWHERE });
    const waiting = [publisher.ready(), publisher.ready({ signal: new AbortController().signal })];
    void publisher.close({ withinMs: 0 });
    for (const ready of [...waiting, publisher.ready()]) await expect(ready).rejects.toThrow('the publisher is closed');
    expect(publisher.trouble()).toBe('the publisher is closed');
  });
});
