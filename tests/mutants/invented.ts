import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { report } from '@waybell/cli/print';
import { chooseChanged, TEXT_TESTS } from '@waybell/cli/test-run/choose-changed';
import { findTests } from '@waybell/cli/test-run/find-tests';
import { ImportGraph } from '@waybell/cli/test-run/import-graph';
import { lendServers } from '@waybell/cli/test-run/lend-servers';
import type { Lender } from '@waybell/cli/test-run/breakable-servers';
import { readCosts } from '@waybell/cli/test-run/test-costs';
import { browserMachine, CHROMIUM, findChromium } from '@waybell/stack/programs';
import { repository } from '@waybell/stack/stack-folder';
import { Dice } from '../actions/generate/dice.ts';
import { chooseMistakes } from './choose-mistakes.ts';
import { NotMigrated } from './lend-migrated.ts';
import { breakWith, readMutants, type Mutant } from './read-mutants.ts';
import { runSuites } from './run-suites.ts';
import { tryOut, type Verdict } from './try-out.ts';

/** The most for one set of servers, which lends a bounded number of virtual hosts; and a mutant may have spoilt it. */
const MOST_SUITES = 20;

/** Mistakes that nobody has thought of, tried with the tests that `--changed` would choose. */
export class Invented implements AsyncDisposable {
  readonly #home: string;
  readonly #graph = new ImportGraph(repository);
  readonly #tests = findTests(repository, this.#graph);
  readonly #reached = new Map<string, Map<string, number>>();
  readonly #lent = new Map<string, { lender: Lender; suites: number }>();
  /** Whether a suite passes where nothing is broken; asked of those that have seen something. */
  readonly #isSound = new Map<string, boolean>();
  #lenders = 0;

  constructor(home: string) {
    this.#home = home;
  }

  /** Returns mutants that compile, without those that are known to change nothing. */
  async choose(count: number, seed: number, checkout: string): Promise<Mutant[]> {
    const known = readMutants(repository).filter(({ seenBy }) => seenBy.length === 0);
    const isKnown = (mutant: Mutant) =>
      known.some((other) => other.file === mutant.file && broken(other) === broken(mutant));
    const mutants = await chooseMistakes({ checkout, count, dice: new Dice(seed), isKnown });
    const costs = readCosts();
    const secondsOf = (path: string) => costs.get(path)?.clockSeconds;
    const graph = { reach: (path: string) => this.#reach(path), doesSomething: () => true };
    return mutants.map((mutant) => {
      const { chosen } = chooseChanged({ changed: [mutant.file], tests: this.#tests, graph, secondsOf });
      return { ...mutant, seenBy: chosen.map(({ path }) => path).filter((path) => !TEXT_TESTS.test(path)) };
    });
  }

  /**
   * A suite that fails where nothing is broken sees nothing, nor does one that fails once and not again: the others are asked. Of
   * those without servers no test is as fickle.
   */
  async tryOut(mutant: Mutant, checkout: string, unseeing: readonly string[] = []): Promise<Verdict> {
    const suites = mutant.seenBy.filter((suite) => this.#isSound.get(suite) !== false && !unseeing.includes(suite));
    if (suites.length === 0) return { isSeen: false, how: `opened by no test\n${inTable(mutant)}` };
    const env = await this.#environment(suites, checkout);
    const tryWith = (seenBy: string[]) => tryOut({ ...mutant, seenBy }, checkout, env);
    try {
      const verdict = await tryWith(suites);
      const { by } = verdict;
      if (by === undefined) return { isSeen: false, how: `${verdict.how}\n${inTable(mutant)}` };
      const isFickle = this.#tests.some(({ path, needs }) => path === by && needs !== 'nothing');
      if ((await this.#passes(by, checkout, env)) && (!isFickle || (await tryWith([by])).by === by))
        return { ...verdict, isSeen: true };
      return await this.tryOut(mutant, checkout, [...unseeing, by]);
    } catch (error) {
      if (error instanceof NotMigrated) return { isSeen: true, how: error.message };
      throw error;
    }
  }

  async #passes(suite: string, checkout: string, env: NodeJS.ProcessEnv): Promise<boolean> {
    let isSound = this.#isSound.get(suite);
    if (isSound === undefined) {
      const { failed, unloaded } = await runSuites({ checkout, suites: [suite], env });
      isSound = failed.length + unloaded.length === 0;
      this.#isSound.set(suite, isSound);
      if (!isSound) report(`${suite} fails in a copy where nothing is broken, and is asked no more`);
    }
    return isSound;
  }

  #reach(path: string): Map<string, number> {
    const reached = this.#reached.get(path) ?? this.#graph.reach(path);
    this.#reached.set(path, reached);
    return reached;
  }

  /** Servers and a browser, where one of these suites needs them. */
  async #environment(suites: readonly string[], checkout: string): Promise<NodeJS.ProcessEnv> {
    const tests = this.#tests.filter(({ path }) => suites.includes(path));
    const browser = tests.some(({ opensBrowser }) => opensBrowser)
      ? { [CHROMIUM]: await findChromium(process.env, browserMachine(report)) }
      : {};
    const needing = tests.filter(({ needs }) => needs !== 'nothing').length;
    if (needing === 0) return browser;
    const lent = this.#lent.get(checkout);
    if (lent === undefined || lent.suites + needing > MOST_SUITES) {
      await lent?.lender[Symbol.asyncDispose]();
      this.#lent.delete(checkout);
      const home = join(this.#home, `servers-${(this.#lenders += 1)}`);
      this.#lent.set(checkout, { lender: await lendServers({ home, report, note: report }), suites: needing });
    } else lent.suites += needing;
    return { ...browser, ...this.#lent.get(checkout)?.lender.environment };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#lent.values()].map(({ lender }) => lender[Symbol.asyncDispose]()));
  }
}

const broken = (mutant: Mutant): string | undefined =>
  breakWith(mutant, readFileSync(join(repository, mutant.file), 'utf8'))?.replaceAll(/\s+/g, ' ');

/** As it would stand in a table. */
function inTable({ name, file, find, replace }: Mutant): string {
  const lines = [
    `## ${file}`,
    `${name}: `,
    ...find.map((line) => `  - ${line}`),
    ...replace.map((line) => `  + ${line}`),
  ];
  return lines.map((line) => `          ${line}`).join('\n');
}
