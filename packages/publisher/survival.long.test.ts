import { describe, test } from '@jest/globals';
import { expectSurvival } from './testing/expect-survival.ts';

describe('the outbox', () => {
  test('loses and invents none of 10,000 events, wherever callers and relays are killed', async () => {
    await expectSurvival({ events: 10_000, lives: 60 });
  });
});
