import { cleanEnv, makeValidator, type CleanedEnv, type ValidatorSpec } from 'envalid';
import { parseDurationMs } from './duration.ts';

export { bool, port, str } from 'envalid';

/** A length of time: `250ms`, `4s`, `1m`, `24h`. Read as milliseconds. */
export const duration = makeValidator<number>(parseDurationMs);

/** Several lengths of time, comma-separated: `1s,2s,4s`. Read as milliseconds; empty is none. */
export const durations = makeValidator<number[]>((text) => list(text).map(parseDurationMs));

/** Words separated by commas; empty is none. */
export const words = makeValidator<string[]>(list);

/** A whole number of at least 1. */
export const count = makeValidator<number>((text) => {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new Error(`"${text}" is not a whole number of at least 1`);
  return Number(text);
});

/** A size: `64KiB`, `256MiB`, `1GiB`, or a plain number of bytes. Read as bytes. */
export const bytes = makeValidator<number>((text) => {
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

/** What is wrong with the environment: every setting at once, each with what to do. */
export class InvalidEnvironment extends Error {
  readonly problems: string[];
  constructor(problems: string[]) {
    super(`The environment is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'InvalidEnvironment';
    this.problems = problems;
  }
}

/**
 * Reads the settings named in `specs` from `env`. An empty value counts as not set.
 * Throws InvalidEnvironment with all problems at once.
 */
export function readEnvironment<S extends Record<string, ValidatorSpec<unknown>>>(
  specs: S,
  env: NodeJS.ProcessEnv = process.env,
): CleanedEnv<S> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  return cleanEnv(given, specs, {
    reporter: ({ errors }) => {
      const problems = Object.entries(errors).map(([name, error]) => `${name}: ${error?.message ?? 'not valid'}`);
      if (problems.length > 0) throw new InvalidEnvironment(problems);
    },
  });
}

/** Reads a process' configuration; where it is not valid, says so on stderr and exits with 2. */
export function configOrExit<C>(readConfig: (env: NodeJS.ProcessEnv) => C): C {
  try {
    return readConfig(process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}
