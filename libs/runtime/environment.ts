/**
 * A process's settings: their kinds, and how they are read from its environment. Whatever is wrong is reported at once, in words that say
 * what to do: also settings that no version reads any more, and variables that look like a setting.
 */
import { cleanEnv, EnvMissingError, makeValidator, type CleanedEnv, type ValidatorSpec } from 'envalid';
import { distance } from 'fastest-levenshtein';
import { addressesIn } from './addresses.ts';
import { parseDurationMs } from './duration.ts';
import { changedConstants, goneIn } from './gone-settings.ts';
import { readTextFile, requireCertificates } from './pem.ts';

export { bool, port, str } from 'envalid';
export { certificates, privateKey } from './pem.ts';

/** A duration: `250ms`, `4s`, `1m`, `24h`. Read as milliseconds. */
export const duration = makeValidator<number>(parseDurationMs);

const DAY_MS = 86_400_000;

/**
 * A duration for a timer: a limit or an interval. Timers of Node.js fire at once for 0, and for more than 24 days. Read as
 * milliseconds.
 */
export const wait = makeValidator<number>((text) => {
  const waitMs = parseDurationMs(text);
  if (waitMs >= 1 && waitMs <= 24 * DAY_MS) return waitMs;
  throw new Error(`"${text}" cannot be waited for: write a time from 1ms to 24d`);
});

/** Several durations, comma-separated: `1s,2s,4s`. Read as milliseconds; empty is none. */
export const durations = makeValidator<number[]>((text) => list(text).map(parseDurationMs));

/**
 * A server's address by one of these schemes, or several as `addressesIn` reads them. Errors do not show it: it may hold a
 * password.
 */
export const address = (...schemes: [string, ...string[]]) =>
  makeValidator<string>((text) => {
    if (addressesIn(text).every((each) => schemes.includes(URL.parse(each)?.protocol.slice(0, -1) ?? ''))) return text;
    throw new Error(`is not an address with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}, percent-encoded`);
  });

/** Words separated by commas; empty is none. */
export const words = makeValidator<string[]>(list);

/**
 * The scope of a limit. Each `process` has its own, so three replicas have three times as much. The other scopes are shared: by
 * all replicas of a `service`, all services on one broker (`line`), all on one Postgres (`installation`).
 */
export type Per =
  | 'process'
  | `${'client' | 'address' | 'port'} and process`
  | 'account'
  | 'address'
  | 'client'
  | 'endpoint'
  | 'event'
  | 'installation'
  | 'line'
  | 'message'
  | 'queue'
  | 'service'
  | 'vehicle';

type LimitSpec = { per: Per; default: number; desc?: string };

/** A number with its scope, which operators of several replicas must know. */
const limit = (parse: (text: string) => number) => {
  const validator = makeValidator<number>(parse);
  return ({ per, ...spec }: LimitSpec) => ({ ...validator(spec), per });
};

/** A whole number of at least 1. */
export const count = limit((text) => {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new Error(`"${text}" is not a whole number of at least 1`);
  return Number(text);
});

/** A whole number; 0: none. */
export const countOrNone = limit((text) => {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`"${text}" is not a whole number of at least 0`);
  return Number(text);
});

/** A size: `64KiB`, `256MiB`, `1GiB`, or a plain number of bytes. Read as bytes. */
export const bytes = limit((text) => {
  const [, amount, unit = ''] = /^(\d+)\s*(KiB|MiB|GiB)?$/.exec(text.trim()) ?? [];
  const factor = { '': 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }[unit];
  if (amount === undefined || factor === undefined) {
    throw new Error(`"${text}" is not a size: write bytes, or a number with KiB, MiB or GiB`);
  }
  return Number(amount) * factor;
});

function list(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** The same setting, also refused at the start if `check` throws. */
export function checked<T, S extends { _parse: (text: string) => T }>(setting: S, check: (value: T) => unknown): S {
  return {
    ...setting,
    _parse: (text: string) => {
      const value = setting._parse(text);
      check(value);
      return value;
    },
  };
}

/** The same, but no setting: its default holds always. Tests and benches alone change it, by `withConstants`. */
export const constant = <S extends object>(setting: S): S & { isConstant: true } => ({ ...setting, isConstant: true });

/**
 * The same setting, but no reason not to start: if its file cannot be read, that is logged, and the setting counts as not set.
 */
export const tolerated = <S extends object>(setting: S): S & { isTolerated: true } => ({
  ...setting,
  isTolerated: true,
});

/** Lists everything that is wrong with the environment, each with what to do. */
export class InvalidEnvironment extends Error {
  readonly problems: string[];
  constructor(problems: string[]) {
    super(`The environment is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'InvalidEnvironment';
    this.problems = problems;
  }
}

/**
 * Reads the settings named in `specs` from `env`, each from `NAME` or from the file named by `NAME_FILE`, without the file's last
 * line end. An empty value counts as not set. Throws InvalidEnvironment with all problems at once, among them settings that are
 * gone, whichever process read them; `warn` gets the ignored ones.
 */
export function readEnvironment<S extends Record<string, ValidatorSpec<unknown>>>(
  specs: S,
  env: NodeJS.ProcessEnv = process.env,
  warn: (text: string) => void = (text) => process.emitWarning(text),
): CleanedEnv<S> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const problems = [...blindTrust(given), ...goneIn(given)];
  const changed = changedConstants(given);
  for (const [name, spec] of Object.entries(specs)) {
    if ('isConstant' in spec) given[name] = changed[name];
    else problems.push(...readFile(name, spec, given, warn));
  }
  const isReported = (name: string) => problems.some((problem) => problem.startsWith(`${name}_FILE: `));
  const settings = cleanEnv(given, specs, {
    reporter: ({ errors }) => {
      for (const [name, error] of Object.entries(errors)) {
        if (isReported(name)) continue;
        problems.push(`${sourceOf(name, given)}: ${whatIsWrong(error)}${perhapsMeant(name, given)}`);
      }
      if (problems.length > 0) throw new InvalidEnvironment(problems);
    },
  });
  originOf.set(settings, { specs, env });
  return settings;
}

const sourceOf = (name: string, given: NodeJS.ProcessEnv) =>
  given[`${name}_FILE`] === undefined ? name : `${name}_FILE`;

function whatIsWrong(error: unknown): string {
  // The description says what a missing setting is for.
  return `${error instanceof EnvMissingError ? 'is not set: ' : ''}${error instanceof Error ? error.message : 'not valid'}`;
}

function perhapsMeant(setting: string, given: NodeJS.ProcessEnv): string {
  return mistypedSettings([setting], given)
    .map(({ name }) => `; ${name} is set: is this meant?`)
    .join('');
}

/** With this variable, Node.js would accept any certificate, of receivers and of servers, from any machine that answers. */
function blindTrust({ NODE_TLS_REJECT_UNAUTHORIZED: isChecked }: NodeJS.ProcessEnv): string[] {
  if (isChecked !== '0') return [];
  return [
    'NODE_TLS_REJECT_UNAUTHORIZED: 0 would have certificates go unchecked: unset it, and name your own authority by TLS_CA_FILE, or for receivers by NODE_EXTRA_CA_CERTS',
  ];
}

/** Returns what is wrong with the file of a setting, unless that is no reason not to start. */
function readFile(name: string, spec: object, given: NodeJS.ProcessEnv, warn: (text: string) => void): string[] {
  const problem = readFileOf(name, given);
  if (problem === undefined) return [];
  if (!('isTolerated' in spec)) return [problem];
  warn(`${problem}: ${name} counts as not set`);
  return [];
}

/** Returns what is wrong with the file of a setting, if it has one. */
function readFileOf(name: string, given: NodeJS.ProcessEnv): string | undefined {
  const path = given[`${name}_FILE`];
  if (path === undefined) return undefined;
  if (given[name] !== undefined) return `${name}_FILE: ${name} is set as well: leave one of them out`;
  try {
    given[name] = readTextFile(path).replace(/\r?\n$/, '');
    return undefined;
  } catch (error) {
    return `${name}_FILE: ${whatIsWrong(error)}`;
  }
}

/** Settings that were read, and from what. */
type Origin = { specs: Record<string, ValidatorSpec<unknown>>; env: NodeJS.ProcessEnv };

const originOf = new WeakMap<object, Origin>();

/**
 * Reads some of these settings once more, from where `readEnvironment` read them: their files may have changed. Undefined if they were
 * not read by it. `file`: what names the file of the first of them, and its path. `read` throws InvalidEnvironment.
 */
export function readAgain<S extends object, N extends keyof S & string>(settings: S, names: readonly [N, ...N[]]) {
  const origin = originOf.get(settings);
  if (origin === undefined) return undefined;
  const { specs, env } = origin;
  const some = Object.fromEntries(Object.entries(specs).filter(([name]) => names.some((one) => one === name)));
  const path = env[`${names[0]}_FILE`] ?? '';
  return {
    file: path === '' ? undefined : `${names[0]}_FILE (${path})`,
    // The same specifications make the same types.
    read: () => readEnvironment(some, env) as unknown as Pick<S, N>,
  };
}

/** Reads a process's configuration. If it is not valid, reports that on stderr and exits with 2. */
export function configOrExit<C>(readConfig: (env: NodeJS.ProcessEnv) => C): C {
  try {
    requireExtraAuthorities(process.env);
    return readConfig(process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}

/**
 * Throws InvalidEnvironment if the process lacks certificate authorities that its operator named. Node.js itself would only warn,
 * and attempts would fail at receivers that need one of these.
 */
export function requireExtraAuthorities({ NODE_EXTRA_CA_CERTS: path = '' }: NodeJS.ProcessEnv): void {
  if (path === '') return;
  try {
    if (path.includes('-----BEGIN ')) throw new Error('holds certificates: write them to a file, and give its path');
    requireCertificates(path);
  } catch (error) {
    throw new InvalidEnvironment([`NODE_EXTRA_CA_CERTS: ${whatIsWrong(error)}`]);
  }
}

/** The constants that are changed in this process, by name: in tests alone. */
export function constantsChangedHere(): Record<string, string> {
  return changedConstants(process.env);
}

/** Finds environment variables that were probably meant for one of these settings. */
export function mistypedHere(settings: readonly string[]): Mistyped[] {
  return mistypedSettings(settings, process.env);
}

/** A variable that no process reads, and the setting that it looks like, which is not set. */
type Mistyped = { name: string; setting: string };

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
