import { describe, test } from '@jest/globals';
import { expectSurvival } from './testing/expect-survival.ts';

describe('the outbox', () => {
  test('loses and invents nothing, wherever callers and relays are killed', async () => {
    await expectSurvival({ events: 300, lives: 6 });
  });
});
