import { describe, expect, test } from '@jest/globals';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { MissingKeys } from './deliverer.ts';

function someKeys() {
  const clock = new TurnedClock();
  const said: object[] = [];
  return { clock, said, keys: new MissingKeys({ log: { error: (facts: object) => said.push(facts) }, clock }) };
}

describe('missing keys', () => {
  test('are waited for, each by its name, while deliveries ask for them, and said once', () => {
    const { clock, said, keys } = someKeys();
    expect(keys.waitingFor()).toEqual([]);
    keys.note('2024');
    keys.note('2025');
    clock.skipTo(clock.now() + 50_000);
    keys.note('2024');
    expect(keys.waitingFor()).toEqual(['key "2024" of SECRET_KEYS', 'key "2025" of SECRET_KEYS']);
    clock.skipTo(clock.now() + 50_000);
    expect(keys.waitingFor()).toEqual(['key "2024" of SECRET_KEYS']);
    expect(said).toEqual([{ key: '2024' }, { key: '2025' }]);
  });

  test('are waited for no more once none asks', () => {
    const { clock, keys } = someKeys();
    keys.note('2024');
    clock.skipTo(clock.now() + 60_000);
    expect(keys.waitingFor()).toEqual([]);
  });
});
