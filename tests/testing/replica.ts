import { readFileSync } from 'node:fs';
import { freePort } from '@waybell/stack/free-port';
import { waitsFor } from '@waybell/stack/service-process';
import { SupervisedProcess, type ProcessSpec } from '@waybell/stack/supervised-process';

/** Starts one more of that service, with a port of its own for health and these settings; the caller stops it. */
export async function replicaOf(
  { spec }: SupervisedProcess,
  settings: Record<string, string> = {},
): Promise<SupervisedProcess> {
  const port = await freePort({ taken: new Set() });
  const health = `http://127.0.0.1:${port}`;
  const replica = new SupervisedProcess(
    {
      ...spec,
      name: `${spec.name}-2`,
      env: { ...spec.env, ...settings, HEALTH_PORT: String(port) },
      logFile: spec.logFile.replace(/\.log$/, '-2.log'),
      health,
      waitsFor: () => waitsFor(health),
    },
    { restart: 'never', onEvent: () => undefined },
  );
  await replica.start();
  return replica;
}

/** What a service has logged so far. */
export function logOf({ logFile }: ProcessSpec): Record<string, unknown>[] {
  // Without the last one, which it may be writing.
  const lines = readFileSync(logFile, 'utf8').split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>);
}
