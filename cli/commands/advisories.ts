import { Command } from 'commander';
import { findAdvisories } from '../dependencies.ts';
import { report, print } from '../print.ts';

export function advisoriesCommand(): Command {
  return new Command('advisories')
    .description('ask the registry for known vulnerabilities of the packages in use, and for newer versions of Node')
    .addHelpText(
      'after',
      '\nPrints one line for each, and exits with 1 where there is one, and with 2 where the registry does not say.' +
        '\n\nExample:\n  ./waybell advisories\n',
    )
    .action(advisories);
}

async function advisories(): Promise<void> {
  const { found, unknown } = await findAdvisories();
  if (found.length > 0) print(...found);
  for (const each of unknown) report(`not known: ${each}`);
  if (found.length + unknown.length === 0) report('nothing is known against the versions in use');
  else process.exitCode = found.length > 0 ? 1 : 2;
}
