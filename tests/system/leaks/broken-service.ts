import { withConstants } from '@waybell/runtime/gone-settings';
import { spawn } from 'node:child_process';
import { freePort } from '@waybell/stack/ports';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';

export type Ended = { code: number | null; output: string };

/** There to end a test that will never pass. */
const LIMIT_MS = 60_000;

/**
 * Starts one more of that service with other settings, on ports of its own, and resolves with all that it wrote
 * when it ended, or had written all of `until` and was ended.
 */
export async function runBroken(
  { spec }: SupervisedProcess,
  settings: Record<string, string>,
  until: readonly string[] = [],
): Promise<Ended> {
  const taken = new Set<number>();
  const [healthPort, port, adminPort] = await Promise.all([1, 2, 3].map(() => freePort({ taken })));
  const child = spawn(spec.command, spec.args, {
    cwd: spec.cwd,
    env: {
      ...spec.env,
      HEALTH_PORT: `${healthPort}`,
      PORT: `${port}`,
      ADMIN_PORT: `${adminPort}`,
      ...withConstants(settings),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('latin1').on('data', (text: string) => {
      output += text;
      if (until.length > 0 && until.every((each) => output.includes(each))) child.kill('SIGKILL');
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
