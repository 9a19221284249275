import { spawn, spawnSync } from 'node:child_process';

export type RootScript = {
  /** Run by `sh -c`. */
  script: string;
  args: string[];
  /** Describes the command to a person who waits. */
  title: string;
  report: (line: string) => void;
};

const TICK_MS = 10_000;
const SHOWN_LINES = 15;

/** Runs a script as root or with passwordless sudo. False where it may not, or fails; `report` then hears why. */
export async function runAsRoot({ script, args, title, report }: RootScript): Promise<boolean> {
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  if (asRoot.length > 0 && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status !== 0) return false;
  report(title);
  const [command = '', ...rest] = [...asRoot, 'sh', '-c', script, 'sh', ...args];
  const beganMs = Date.now();
  const ticking = setInterval(
    () => report(`still at it (${Math.round((Date.now() - beganMs) / 1_000)} s): ${title}`),
    TICK_MS,
  );
  const output: Buffer[] = [];
  const status = await new Promise((resolve) => {
    const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
    child.once('error', resolve);
    child.once('close', resolve);
  });
  clearInterval(ticking);
  if (status === 0) return true;
  report(`failed: ${title}\n${Buffer.concat(output).toString().trim().split('\n').slice(-SHOWN_LINES).join('\n')}`);
  return false;
}
