import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A small break of the product, which a test must see: the promise it breaks is one of ours. */
export type Mutant = {
  name: string;
  promise: string;
  file: string;
  /** Test files of which at least one must fail; none ("seen by nobody") for what no user could see, for the reason that `promise` gives. */
  seenBy: string[];
  /** Lines that are there once, one after the other, however they are indented. */
  find: string[];
  replace: string[];
};

const LINE =
  /^(?:# seen by (?<heading>.+)|## (?<path>.+)|  - (?<find>.+)|  \+ (?<replace>.+)|(?<name>\S.*?): (?<promise>.+))$/;
const BESIDE = 'the test beside it';
const NOBODY = 'nobody';

/** The tables in this folder of a checkout. A heading holds until the next of its kind. Throws, and says where, for what is wrong. */
export function readMutants(checkout: string): Mutant[] {
  const mutants: Mutant[] = [];
  for (const table of globSync('tests/mutants/*.txt', { cwd: checkout }).toSorted()) {
    let [file, seenBy] = ['"## file" above', '"# seen by" above'];
    for (const [index, line] of readFileSync(join(checkout, table), 'utf8').split('\n').entries()) {
      if (line === '') continue;
      const expect = (isSo: boolean, what: string) => {
        if (!isSo) throw new Error(`${table}:${index + 1}: ${what}: ${line}`);
      };
      const { heading, path, name, promise = '', find, replace } = LINE.exec(line)?.groups ?? {};
      const row = mutants.at(-1);
      if (heading !== undefined) seenBy = heading;
      else if (path !== undefined) file = path;
      else if (name !== undefined) {
        expect(row?.find.length !== 0, 'the one before changes nothing');
        expect(!mutants.some((other) => other.name === name), 'there is one of this name');
        const suites =
          seenBy === BESIDE ? [file.replace(/ts$/, 'test.ts')] : seenBy.split(', ').filter((each) => each !== NOBODY);
        const missing = [file, ...suites].filter((each) => !existsSync(join(checkout, each)));
        expect(missing.length === 0, `${missing.join(', ')} is not there`);
        mutants.push({ name, promise, file, seenBy: suites, find: [], replace: [] });
      } else {
        const lines = find === undefined ? row?.replace : row?.find;
        expect((find ?? replace) !== undefined && lines !== undefined, 'is no line of a table');
        lines?.push(find ?? replace ?? '');
      }
    }
  }
  return mutants;
}

/** The source with that break in it; undefined where it does not apply exactly once. */
export function breakWith({ find, replace }: Mutant, source: string): string | undefined {
  const found = new RegExp(find.map((line) => line.replaceAll(/\W/g, String.raw`\$&`)).join(String.raw`\s+`));
  const [before = '', after, ...others] = source.split(found);
  return after === undefined || others.length > 0 ? undefined : `${before}${replace.join('\n')}${after}`;
}
