import { Command } from 'commander';
import { check } from '../check.ts';

export function checkCommand(): Command {
  return new Command('check')
    .description('check format, lint, types, boundaries and dead code (the same as "pnpm check")')
    .addHelpText(
      'after',
      '\nTests: "./waybell test --changed" runs those that see what you changed.\n\nExample:\n  ./waybell check\n',
    )
    .action(() => check());
}
