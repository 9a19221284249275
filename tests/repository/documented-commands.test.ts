import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { findTests, selectTests } from '@waybell/cli/test-run/find-tests';
import { repository } from '@waybell/stack/stack-folder';
import { scenarios } from '../../bench/scenarios/scenarios.ts';
import { allFaults } from '../faults/all-faults.ts';
import { readMutants } from '../mutants/read-mutants.ts';

/** The needed part of a command of commander. */
type Command = { name: () => string; options: { long?: string }[]; commands: Command[] };

/** A release's section describes the commands of its time. */
const HISTORY = 'CHANGELOG.md';
const pages = execFileSync('git', ['ls-files', '-z', '*.md', '*.yml', '*.yaml'], { cwd: repository, encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '' && path !== HISTORY && existsSync(join(repository, path)));

const tests = findTests(repository);
const mutants = readMutants(repository);

/** Commands as one would type them: in Markdown what stands in code, elsewhere up to what cannot be an argument. */
function commandsIn(path: string): string[] {
  const text = readFileSync(join(repository, path), 'utf8');
  const parts = path.endsWith('.md') ? codeIn(text) : [text];
  return parts.flatMap((part) => [...part.matchAll(/\.\/waybell ([^\n`#,;|)&<>"]*)/g)].map(([, words = '']) => words));
}

function codeIn(markdown: string): string[] {
  return markdown
    .split('```')
    .flatMap((part, place) =>
      place % 2 === 1 ? part : [...part.replaceAll('\n', ' ').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code),
    );
}

/** Words in brackets are optional. */
const wordsOf = (command: string): string[] =>
  [...command.replaceAll(/\[[^\]]*\]/g, '').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain = '']) => quoted ?? plain,
  );

/** Returns the fault of a command; undefined if it has none. */
async function faultOf([name = '', ...given]: readonly string[]): Promise<string | undefined> {
  // Otherwise an option of the program itself, or a placeholder.
  const command = /^[a-z]/.test(name) ? await commandOf(name) : undefined;
  if (command === undefined) return /^[a-z]/.test(name) ? 'no such command' : undefined;
  const [below = ''] = given;
  const sub = command.commands.find((each) => each.name() === below);
  if (command.commands.length > 0 && sub === undefined && /^[a-z]/.test(below)) return `no ${name} ${below}`;
  const options = ['--help', ...[command, sub].flatMap((each) => each?.options.map(({ long }) => long) ?? [])];
  const unknown = given
    .map((word) => word.split('=')[0] ?? '')
    .find((word) => /^--[a-z]/.test(word) && !options.includes(word));
  // A program of its own reads the options of a benchmark.
  if (unknown !== undefined && name !== 'bench') return `no option ${unknown}`;
  const words = given.filter((word) => !/^-|[…$]/.test(word));
  if (name === 'test') return faultOfTest(words);
  return name === 'bench' ? faultOfBench(words) : undefined;
}

async function commandOf(name: string): Promise<Command | undefined> {
  if (!existsSync(join(repository, `cli/commands/${name}.ts`))) return undefined;
  // A file of that folder exports the function that makes its command.
  const exported = (await import(`../../cli/commands/${name}.ts`)) as Record<string, () => Command>;
  return Object.entries(exported).find(([key]) => key.endsWith('Command'))?.[1]();
}

function faultOfTest([suite, ...words]: string[]): string | undefined {
  if (suite === undefined) return undefined;
  const [first = '', ...others] = words;
  if (suite === 'mutants') return mutants.some(({ name }) => name.includes(first)) ? undefined : 'no such mutant';
  if (suite === 'faults') {
    const isRow = /^[LGD]\d+$/.test(first);
    const parts = isRow ? others : words;
    const chosen = allFaults.filter(
      ({ row, name }) => (!isRow || row === first) && parts.every((part) => name.includes(part)),
    );
    return chosen.length > 0 ? undefined : 'no such fault';
  }
  const unmatched = [suite, ...words].filter((word) => selectTests(tests, [word]).length === 0);
  return unmatched.length === 0 ? undefined : `no test matches ${unmatched.join()}`;
}

function faultOfBench(words: string[]): string | undefined {
  const isValue = (word: string) => /^\d+$|\.json$/.test(word);
  const unknown = words.filter((word) => !isValue(word) && !scenarios.some(({ name }) => name === word));
  return unknown.length === 0 ? undefined : `no scenario ${unknown.join()}`;
}

test('every command that a page names can be given as the page has it', async () => {
  const wrong: string[] = [];
  for (const page of pages)
    for (const command of commandsIn(page)) {
      const fault = await faultOf(wordsOf(command));
      if (fault !== undefined) wrong.push(`${page}: ./waybell ${command}: ${fault}`);
    }
  expect(wrong).toEqual([]);
});
