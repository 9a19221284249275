import { describe, test } from '@jest/globals';
import { proveSurvival } from './testing/prove-survival.ts';

describe('the outbox', () => {
  test('loses and invents none of 10,000 events, wherever callers and relays are killed', async () => {
    await proveSurvival(10_000);
  });
});
