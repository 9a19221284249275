import { distance } from 'fastest-levenshtein';

/** A variable that no process reads, and the setting that it looks like, which is not set. */
export type Mistyped = { name: string; setting: string };

/** One letter in six may be wrong, up to a limit: short names of other programs look alike. */
const LETTERS_PER_SLIP = 6;
const MOST_SLIPS = 2;

/**
 * Finds variables of `env` that were probably meant for one of these settings: they differ by few letters from one that is not
 * set. Settings may also be named with `_FILE`.
 */
export function mistypedSettings(settings: readonly string[], env: NodeJS.ProcessEnv): Mistyped[] {
  const isSet = (name: string) => (env[name] ?? '') !== '';
  const namesOf = (setting: string) => [setting, `${setting}_FILE`];
  const known = new Set(settings.flatMap(namesOf));
  const unset = settings.filter((setting) => !namesOf(setting).some(isSet)).flatMap(namesOf);
  const others = Object.keys(env).filter((name) => isSet(name) && !known.has(name));
  return others.flatMap((name) => {
    const near = unset
      .map((setting) => ({ name, setting, slips: slipsBetween(name, setting) }))
      .filter(({ setting, slips }) => slips <= Math.min(MOST_SLIPS, Math.floor(setting.length / LETTERS_PER_SLIP)))
      .toSorted((one, other) => one.slips - other.slips)[0];
    return near === undefined ? [] : [{ name, setting: near.setting }];
  });
}

/** Counts swapped letters as one slip. */
function slipsBetween(name: string, setting: string): number {
  const letters = (text: string) => text.split('').toSorted().join('');
  return letters(name) === letters(setting) ? 1 : distance(name, setting);
}
