import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Command } from 'commander';
import { repository } from '@waybell/stack/stack-folder';

/** A program of its own, which reads its own arguments: no other command needs the contenders' packages. */
export function benchCommand(): Command {
  return new Command('bench')
    .description('measure speed and fairness, beside what one would build instead (./waybell bench --help)')
    .argument('[arguments...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(bench);
}

async function bench(args: string[]): Promise<void> {
  const child = spawn(process.execPath, [join(repository, 'bench', 'main.ts'), ...args], { stdio: 'inherit' });
  // Ctrl-C reaches it too; it ends first, having cleared up.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
