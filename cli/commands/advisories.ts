import { Command } from 'commander';
import { describeAdvisory, findAdvisories } from '../dependencies/find-advisories.ts';
import { report } from '../report.ts';
import { print } from '../print.ts';

export function advisoriesCommand(): Command {
  return new Command('advisories')
    .description('ask the registry for known vulnerabilities of the versions in use')
    .addHelpText(
      'after',
      '\nPrints one line for each advisory, and exits with 1 where there is one. Where the registry does not say, so does the command.' +
        '\n\nExample:\n  ./waybell advisories\n',
    )
    .action(advisories);
}

async function advisories(): Promise<void> {
  const found = await findAdvisories();
  if (found.kind === 'unknown') return report(`the registry did not say: ${found.why}`);
  for (const advisory of found.advisories) print(describeAdvisory(advisory));
  if (found.advisories.length === 0) report('nothing is known against the versions in use');
  else process.exitCode = 1;
}
