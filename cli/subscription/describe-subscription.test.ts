import { describe, expect, test } from '@jest/globals';
import { describeSubscription, type SubscriptionAnswer } from './describe-subscription.ts';

const subscription: SubscriptionAnswer = {
  guid: 'a3e0b6c4-6f5e-4a3f-9a55-0c8f2f0f7d11',
  action: 'order.created',
  callback_url: 'https://hooks.test/a',
  is_active: true,
};
const at = '2026-11-20T09:30:00.000Z';

describe('describeSubscription', () => {
  test.each<[Partial<SubscriptionAnswer>, string]>([
    [{}, 'on'],
    [
      { is_active: false, deactivation: { at, rule: 'exhausted' } },
      `switched off since ${at} (a delivery was given up)`,
    ],
    [{ is_active: false }, 'switched off'],
    [{ paused_until: at }, `on  paused until ${at}`],
    [{ stopped: { at, reason: 'moved' } }, `on  stopped by the operator since ${at}: moved`],
    [
      { suspension: { reason: 'feature_off', feature: 'insurance' } },
      'on  nothing is sent without the feature insurance',
    ],
    [{ missed: { since: at, until: at, count: 3 } }, `on  missed from ${at} to ${at}: 3`],
    [{ missed: { since: at, until: at } }, `on  missed from ${at} to ${at}`],
  ])('of %j ends with how it stands', (more, standing) => {
    const { action, guid, callback_url: url } = subscription;
    expect(describeSubscription({ ...subscription, ...more })).toBe(`${action}  ${guid}  ${url}  ${standing}`);
  });
});
