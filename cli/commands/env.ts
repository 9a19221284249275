import { Command } from 'commander';
import { stackOf } from '@waybell/stack/stack-folder';
import { requireRunning } from '@waybell/stack/stack-state';
import { print } from '../print.ts';

export function envCommand(): Command {
  return new Command('env')
    .description('print the addresses of the running stack as KEY=value lines')
    .addHelpText('after', '\nExample:\n  export $(./waybell env) && curl "$API_URL/v1/public/webhooks/action_types"\n')
    .action(env);
}

function env(): void {
  const folder = stackOf(process.env);
  const { addresses } = requireRunning(folder);
  const lines = Object.entries({ ...addresses, WAYBELL_HOME: folder.home }).map(([key, value]) => `${key}=${value}`);
  print(...lines);
}
