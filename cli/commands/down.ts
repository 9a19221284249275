import { Command } from 'commander';
import { requireOwnFolder } from '@waybell/stack/inherited-servers';
import { stackOf } from '@waybell/stack/stack-folder';
import { removeStack, stopStack } from '@waybell/stack/stop-stack';
import { report } from '../print.ts';

export function downCommand(): Command {
  return new Command('down')
    .description('stop the running stack: the services first, then the servers')
    .option('--delete', 'delete its data, logs and secrets too')
    .addHelpText('after', '\nExample:\n  ./waybell down\n')
    .action(down);
}

async function down(options: { delete?: true }): Promise<void> {
  const folder = stackOf(process.env);
  requireOwnFolder(folder);
  const wasUp = await stopStack(folder, report);
  report(wasUp ? `stopped the stack in ${folder.home}` : `no stack runs in ${folder.home}`);
  if (options.delete) removeStack(folder);
}
