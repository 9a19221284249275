import { Command } from 'commander';

export function checkCommand(): Command {
  return new Command('check')
    .description('check format, lint, types, boundaries, dead code and unit tests (the same as "pnpm check")')
    .addHelpText('after', '\nExample:\n  ./waybell check\n')
    .action(async () => {
      // It runs when it is loaded.
      await import('../check.ts');
    });
}
