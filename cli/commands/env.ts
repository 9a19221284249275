import { Command } from 'commander';
import { stackOf } from '@waybell/stack/stack-folder';
import { requireRunning } from '@waybell/stack/stack-state';
import { print } from '../print.ts';

export function envCommand(): Command {
  return new Command('env')
    .description('print the addresses of the running stack, for a shell to read')
    .addHelpText(
      'after',
      [
        '',
        'METRICS_URLS are separated by commas, and each ends with the name of its service: http://…/metrics#deliverer.',
        '',
        'Examples:',
        '  eval "$(./waybell env)" && curl "$API_URL/v1/public/webhooks/action_types"',
        '  curl -s "{$METRICS_URLS}" | grep waybell_delivery_duration_seconds_count',
        '',
      ].join('\n'),
    )
    .action(env);
}

function env(): void {
  const folder = stackOf(process.env);
  const { addresses } = requireRunning(folder);
  print(...exportLines({ ...addresses, WAYBELL_HOME: folder.home }));
}

/** Lines that set these variables in sh, bash and zsh, and hand them down to what these start. */
export function exportLines(variables: Record<string, string>): string[] {
  return Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuoted(value)}`);
}

/** One word of a shell's, to the letter. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
