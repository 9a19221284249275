import { Command } from 'commander';
import { report } from '../report.ts';
import { stackOf } from '../stack/stack-folder.ts';
import { supervise } from '../stack/supervise.ts';
import { takeLock } from '../stack/supervisor-lock.ts';

/** What `up --detach` leaves running. Not for people. */
export function superviseCommand(): Command {
  return new Command('supervise').description('run a stack without a terminal (what "up --detach" starts)').action(run);
}

async function run(): Promise<void> {
  const folder = stackOf(process.env);
  if (!takeLock(folder)) throw new Error(`another supervisor runs the stack in ${folder.home}`);
  await supervise({ folder, env: process.env, report, onReady: () => report('everything is ready') });
}
