import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import { locationsQueue } from '@waybell/line/topology';
import { until } from '@waybell/runtime/testing/until';
import { rightClocks, setClocks } from '../testing/clocks.ts';
import { aLocationReport } from '../testing/location-report.ts';
import { AFTER_SILENCE_MS, aShipper, GPS_SETTINGS, MOVED, OFF, countOf } from './positions.ts';
import { settingsOf, stack } from './stand.ts';

/** Of looks for silent vehicles, those that ended because reports wait, or may wait. */
const BEHIND = /waybell_gps_sweep_duration_seconds_count\{[^}]*result="behind"/;

describe('a drive', () => {
  settingsOf('location-tracker', () => GPS_SETTINGS);
  afterEach(rightClocks);

  test('does not end in silence while RabbitMQ cannot say whether reports wait', async () => {
    const { client, heard } = await aShipper();
    const report = { shipper: client.account, vehicles: { [randomUUID()]: true }, latitude: 1, longitude: 2 };
    await stack.upstream.publish(aLocationReport({ ...report, recordedAt: Date.now() }));
    await until('it is told', () => heard().find(({ action }) => action === MOVED));
    const leader = (verb: 'suspend' | 'resume') =>
      rabbitmqctl(stack.stack.servers.process('rabbitmq').spec, 'eval', `sys:${verb}('%2F_${locationsQueue}').`);
    const isOff = () => heard().some(({ action }) => action === OFF);
    const before = await countOf('location-tracker', BEHIND);
    await leader('suspend');
    try {
      setClocks(AFTER_SILENCE_MS);
      await until(
        'it was looked for silent vehicles',
        async () => isOff() || (await countOf('location-tracker', BEHIND)) >= before + 2,
      );
      expect(isOff()).toBe(false);
    } finally {
      await leader('resume');
    }
    await until('it is silent', isOff);
  });
});
