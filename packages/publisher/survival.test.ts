import { describe, test } from '@jest/globals';
import { proveSurvival } from './testing/prove-survival.ts';

describe('the outbox', () => {
  test('loses and invents nothing, wherever callers and relays are killed', async () => {
    await proveSurvival(1_000);
  });
});
