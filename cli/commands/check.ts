import { Command } from 'commander';
import { check } from '../check.ts';

export function checkCommand(): Command {
  return new Command('check')
    .description('check format, lint, types, boundaries, dead code and unit tests (the same as "pnpm check")')
    .option('--no-tests', 'without the unit tests, where "./waybell test" runs them too')
    .addHelpText('after', '\nExamples:\n  ./waybell check\n  ./waybell check --no-tests\n')
    .action(({ tests }: { tests: boolean }) => check({ withTests: tests }));
}
