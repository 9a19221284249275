import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { LogTail } from '@waybell/stack/log-tail';
import { logFileOf, stackOf, type StackFolder } from '@waybell/stack/stack-folder';
import { print } from '../print.ts';

export function logsCommand(): Command {
  return new Command('logs')
    .description('print the logs of the stack, or of one of its services or servers')
    .argument('[service]', 'such as deliverer, rabbitmq or supervisor; all services when left out')
    .option('-f, --follow', 'keep printing new lines')
    .option('-n, --lines <count>', 'how many lines of each to begin with', wholeNumber, 200)
    .addHelpText('after', '\nExample:\n  ./waybell logs deliverer -f\n')
    .action(logs);
}

async function logs(service: string | undefined, options: { follow?: true; lines: number }): Promise<void> {
  const names = namesIn(stackOf(process.env), service);
  const tails = names.map(
    (name) => [name, new LogTail(logFileOf(stackOf(process.env), name), { last: options.lines })] as const,
  );
  do {
    for (const [name, tail] of tails) {
      const prefix = service === undefined ? `${name} | ` : '';
      for (const line of tail.read()) print(`${prefix}${line}`);
    }
    if (options.follow) await pause(200);
  } while (options.follow);
}

function namesIn(folder: StackFolder, service: string | undefined): string[] {
  const names = logNames(folder);
  if (names.length === 0) throw new Error(`there are no logs in ${folder.logs}; start the stack with "./waybell up"`);
  if (service === undefined) return names;
  if (!names.includes(service)) throw new Error(`there is no log of "${service}"; there are ${names.join(', ')}`);
  return [service];
}

function logNames({ logs: path }: StackFolder): string[] {
  try {
    return readdirSync(path)
      .filter((name) => name.endsWith('.log'))
      .map((name) => basename(name, '.log'));
  } catch {
    // No stack has run there.
    return [];
  }
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('write a whole number');
  return Number(text);
}
