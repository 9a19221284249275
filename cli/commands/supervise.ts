import { Command } from 'commander';
import { stackOf } from '@waybell/stack/stack-folder';
import { supervise, acquireLock } from '@waybell/stack/supervise';
import { report } from '../print.ts';

/** Runs in the background after `up --detach`. Not for people. */
export function superviseCommand(): Command {
  return new Command('supervise').description('run a stack without a terminal (what "up --detach" starts)').action(run);
}

async function run(): Promise<void> {
  const folder = stackOf(process.env);
  if (!acquireLock(folder)) throw new Error(`another supervisor runs the stack in ${folder.home}`);
  await supervise({ folder, env: process.env, report, onReady: () => report('everything is ready') });
}
