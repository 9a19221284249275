import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { repository } from '@waybell/stack/stack-folder';

export type PnpmResult = { code: number | null; stdout: string; stderr: string };

/** Runs pnpm on this checkout. Throws where there is none on the path: `./waybell` puts one there. */
export async function runPnpm(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<PnpmResult> {
  const child = spawn('pnpm', args, {
    cwd: repository,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const code = new Promise<number | null>((resolve, reject) => {
    child.once('error', () => reject(new Error('found no pnpm on the path: install it, or use ./waybell')));
    child.once('close', resolve);
  });
  const [ended, stdout, stderr] = await Promise.all([code, text(child.stdout), text(child.stderr)]);
  return { code: ended, stdout, stderr };
}
