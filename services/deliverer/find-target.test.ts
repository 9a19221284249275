import { describe, expect, test } from '@jest/globals';
import { isSameTarget, type DeliveryTarget } from './find-target.ts';
import { TARGET } from './testing/waiting.ts';

const target: Required<DeliveryTarget> = {
  ...TARGET,
  isGone: true,
  isClosed: true,
  held: { why: 'paused', until: 1 },
  signingSecrets: ['one', 'two'],
  credentials: { guid: 'one', headers: {}, secrets: [] },
  missingKey: 'k',
};
const others: DeliveryTarget = {
  state: 'ended',
  isFeatureOn: false,
  held: { why: 'paused', until: 2 },
  reportsSuccess: true,
  account: 'another',
  callbackUrl: 'https://another.test',
  verificationToken: 'another',
  signingSecrets: ['one', 'three'],
  credentials: { guid: 'another', headers: {}, secrets: [] },
  missingKey: 'another',
};

describe('isSameTarget', () => {
  test('is so of what is equal, and of nothing', () => {
    expect(isSameTarget(target, structuredClone(target))).toBe(true);
    expect(isSameTarget(undefined, undefined)).toBe(true);
    expect(isSameTarget(target, undefined)).toBe(false);
    expect(isSameTarget(undefined, target)).toBe(false);
  });

  // The names of `target`: one that is added to the type has to be added here.
  test.each(Object.keys(target))('is not of what differs in %s', (name) => {
    expect(isSameTarget(target, { ...target, [name]: Reflect.get(others, name) })).toBe(false);
  });

  test('is not of what has more secrets, or fewer, or none', () => {
    for (const signingSecrets of [['one', 'two', 'three'], ['one'], []]) {
      expect(isSameTarget(target, { ...target, signingSecrets })).toBe(false);
      expect(isSameTarget({ ...target, signingSecrets }, target)).toBe(false);
    }
  });
});
