import { describe, expect, test } from '@jest/globals';
import { constantNames, goneSettings } from '@waybell/runtime/gone-settings';
import { writeValue } from './docs/settings-page.ts';
import { constants, settingNames } from './settings.ts';

describe('settings that are gone', () => {
  test('are no settings now', () => {
    expect(Object.keys(goneSettings).filter((name) => settingNames.includes(name))).toEqual([]);
  });

  test('are each constant that there is', () => {
    expect(Object.keys(constants).toSorted()).toEqual(constantNames.toSorted());
  });

  test.each(Object.entries(constants))(
    'are told with what holds in their place: %s',
    (name, { default: value, _parse }) => {
      const always = `it is ${writeValue(value, _parse)} always`;
      // A sentence of its own where no value says it.
      expect([always, expect.not.stringMatching(/^it is .* always$/)]).toContainEqual(goneSettings[name]);
    },
  );

  test('name settings that there are', () => {
    const named = Object.values(goneSettings).flatMap((instead) => instead.match(/\b[A-Z]+(_[A-Z]+)+\b/g) ?? []);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !settingNames.includes(name))).toEqual([]);
  });
});
