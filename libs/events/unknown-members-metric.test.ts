import { expect, test } from '@jest/globals';
import { findAction } from '@waybell/catalog/actions';
import { Registry } from 'prom-client';
import type { Event } from './event.ts';
import { unknownMembersMetric } from './unknown-members-metric.ts';

const action = findAction('shipper', 'order.paid');

function anEvent(places: readonly string[]): Event {
  if (action === undefined) throw new Error('there is no such action');
  return {
    guid: '',
    action,
    occurredAt: { second: '', nanoseconds: '' },
    receivers: [],
    errorMessage: null,
    payload: {},
    unknownMembers: { count: places.length, places },
    fingerprint: '',
  };
}

test('unknown members are counted by name, and by no more names than a scrape bears', async () => {
  const metrics = new Registry();
  const count = unknownMembersMetric(metrics);
  count(anEvent(['/payload/driver', '/version']));
  count(anEvent(['/payload/driver']));
  for (let place = 0; place < 1_000; place += 1) count(anEvent([`/payload/${place}`]));
  count(anEvent(['/version']));
  const lines = (await metrics.metrics()).split('\n').filter((line) => !line.startsWith('#') && line !== '');
  const valueOf = (member: string) =>
    lines
      .find((line) => line.includes(`member="${member}"`))
      ?.split(' ')
      .at(-1);
  expect([valueOf('/payload/driver'), valueOf('/version'), valueOf('/payload/0')]).toEqual(['2', '2', '1']);
  expect(valueOf('others')).toBe('802');
  expect(lines).toHaveLength(201);
});
