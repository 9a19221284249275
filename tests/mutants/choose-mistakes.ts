import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ImportGraph } from '@waybell/cli/test-run/import-graph';
import { repository } from '@waybell/stack/stack-folder';
import type { Dice } from '../actions/generate/dice.ts';
import { inventMistakes } from './invent-mistakes.ts';
import { MISTAKE_KINDS, type Mistake, type MistakeKind } from './mistake.ts';
import { breakWith, type Mutant } from './read-mutants.ts';

/** Files of the product that people write by hand, and change: a migration is never changed once it has run. */
const PRODUCT = /^(?:services|libs|packages|cli|apps\/console\/src)\/.+\.(?:ts|tsx|sql)$/;
const OTHERS =
  /\.(?:test|d)\.tsx?$|\/(?:testing|migrations)\/|^libs\/stack\/|^cli\/(?:docs|test-run|lint|release|demo|dependencies)\/|^packages\/\w+\/tsdown\.config\.ts$/;

/** How often a mistake is chosen for the place of one that does not compile. */
const ROUNDS = 12;

export type ChooseMistakes = {
  /** Its files are broken meanwhile. */
  checkout: string;
  count: number;
  dice: Dice;
  isKnown: (mutant: Mutant) => boolean;
};

/**
 * Chooses mistakes that compile: as many of each kind, in files by how many lines they have. Fewer than asked for, where there
 * are none that compile.
 */
export async function chooseMistakes({ checkout, count, dice, isKnown }: ChooseMistakes): Promise<Mutant[]> {
  const files = readProduct();
  const kinds = dice.shuffled(MISTAKE_KINDS);
  const chosen: Mutant[] = [];
  let open = Array.from({ length: count }, (_, place) => kinds[place % kinds.length] as MistakeKind); // Within the list.
  for (let round = 1; round <= ROUNDS && open.length > 0; round += 1) {
    const tried = new Map<string, { kind: MistakeKind; mutant: Mutant }>();
    const left: MistakeKind[] = [];
    for (const kind of open) {
      // In the last rounds any kind: some have few places that compile.
      const mutant = draw(files, round > ROUNDS / 2 ? dice.pick(MISTAKE_KINDS) : kind, dice);
      if (mutant === undefined || isKnown(mutant) || tried.has(mutant.file)) left.push(kind);
      else tried.set(mutant.file, { kind, mutant });
    }
    const wrong = await doNotCompile(
      checkout,
      [...tried.values()].map(({ mutant }) => mutant),
    );
    for (const { kind, mutant } of tried.values()) {
      if (wrong.has(mutant.file)) left.push(kind);
      else chosen.push(mutant);
    }
    open = left;
  }
  return dice.shuffled(chosen);
}

type ProductFile = { path: string; source: string; lines: number; mistakes: Map<MistakeKind, Mistake[]> };

function readProduct(): ProductFile[] {
  const paths = execFileSync('git', ['ls-files', '-z'], { cwd: repository, encoding: 'utf8' }).split('\0');
  return paths
    .filter((path) => PRODUCT.test(path) && !OTHERS.test(path) && existsSync(join(repository, path)))
    .map((path) => {
      const source = readFileSync(join(repository, path), 'utf8');
      const mistakes = Map.groupBy(inventMistakes(path, source), ({ kind }) => kind);
      return { path, source, lines: source.split('\n').length, mistakes };
    });
}

/** Takes out a mistake of this kind. Files come as often as they are long. */
function draw(files: readonly ProductFile[], kind: MistakeKind, dice: Dice): Mutant | undefined {
  const having = files.filter(({ mistakes }) => (mistakes.get(kind) ?? []).length > 0);
  let line = dice.below(
    Math.max(
      1,
      having.reduce((sum, { lines }) => sum + lines, 0),
    ),
  );
  for (const file of having) {
    line -= file.lines;
    const mistakes = file.mistakes.get(kind) ?? [];
    const [mistake] = line < 0 ? mistakes.splice(dice.below(mistakes.length), 1) : [];
    if (mistake !== undefined) return asMutant(file, mistake);
  }
  return undefined;
}

/** The mistake in the form of the tables: whole lines, and as many above them as it takes to be there once. */
export function asMutant({ path, source }: Pick<ProductFile, 'path' | 'source'>, mistake: Mistake): Mutant {
  const broken = `${source.slice(0, mistake.from)}${mistake.text}${source.slice(mistake.to)}`;
  const end = (whole: string, from: number) =>
    [whole.indexOf('\n', from), whole.length].find((place) => place >= 0) ?? 0;
  const [until, untilBroken] = [end(source, mistake.to), end(broken, mistake.from + mistake.text.length)];
  const name = `${mistake.kind}, ${path}:${source.slice(0, mistake.from).split('\n').length}`;
  const linesOf = (part: string) =>
    part
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  for (let from = mistake.from; ; from -= 1) {
    from = source.lastIndexOf('\n', from - 1) + 1;
    const [find, replace] = [linesOf(source.slice(from, until)), linesOf(broken.slice(from, untilBroken))];
    const mutant = { name, promise: '', file: path, seenBy: [], find, replace };
    if (from === 0 || breakWith(mutant, source) !== undefined) return mutant;
  }
}

/** Returns files of these that do not compile with their mutants in the checkout, and those that others do not compile with. */
async function doNotCompile(checkout: string, mutants: readonly Mutant[]): Promise<Set<string>> {
  const sources = new Map(mutants.map(({ file }) => [file, readFileSync(join(checkout, file), 'utf8')]));
  const wrong = new Set<string>();
  for (const mutant of mutants) {
    const broken = breakWith(mutant, sources.get(mutant.file) ?? '');
    if (broken === undefined) wrong.add(mutant.file);
    else writeFileSync(join(checkout, mutant.file), broken);
  }
  const graph = new ImportGraph(repository, []);
  for (const project of ['.', 'apps/console']) {
    for (const file of await filesWithErrors(checkout, project)) {
      if (sources.has(file)) wrong.add(file);
      else for (const imported of graph.importsOf(file)) if (sources.has(imported)) wrong.add(imported);
    }
  }
  for (const [file, source] of sources) writeFileSync(join(checkout, file), source);
  return wrong;
}

/** The native compiler has no interface for programs: it is asked for its lines, and remembers what has not changed. */
async function filesWithErrors(checkout: string, project: string): Promise<Set<string>> {
  const args = [
    '-p',
    project,
    '--pretty',
    'false',
    '--incremental',
    '--tsBuildInfoFile',
    join(checkout, `${project}.tsbuildinfo`),
  ];
  const child = spawn(join(checkout, 'node_modules', '.bin', 'tsc'), args, {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return new Set([...said.matchAll(/^([^\s(]+)\(\d+,\d+\): error/gm)].map(([, file = '']) => file));
}
