import { withConstants } from '@waybell/runtime/gone-settings';
import { readFileSync } from 'node:fs';
import { freePort } from '@waybell/stack/ports';
import { type RestartPolicy, SupervisedProcess, type ProcessSpec } from '@waybell/stack/supervised-process';
import { waitsFor } from '@waybell/stack/service-process';

export type ReplicaOptions = {
  settings?: Record<string, string>;
  /** Differs for each replica of one service; the service itself is the first. */
  number?: number;
  /** Whether it is started again when it ends by itself; not by default. */
  restart?: RestartPolicy;
};

/** Starts one more of that service, with ports of its own and these settings; the caller stops it. */
export async function replicaOf(
  { spec }: SupervisedProcess,
  { settings = {}, number = 2, restart = 'never' }: ReplicaOptions = {},
): Promise<SupervisedProcess> {
  const taken = new Set<number>();
  const port = await freePort({ taken });
  const health = `http://127.0.0.1:${port}`;
  const ports: Record<string, string> = { HEALTH_PORT: String(port) };
  for (const setting of ['PORT', 'ADMIN_PORT']) {
    if (spec.env[setting] !== undefined) ports[setting] = String(await freePort({ taken }));
  }
  const replica = new SupervisedProcess(
    {
      ...spec,
      name: `${spec.name}-${number}`,
      env: { ...spec.env, ...withConstants(settings), ...ports },
      logFile: spec.logFile.replace(/\.log$/, `-${number}.log`),
      address: ports['PORT'] === undefined ? health : `http://127.0.0.1:${ports['PORT']}`,
      health,
      waitsFor: () => waitsFor(health),
    },
    { restart, onEvent: () => undefined },
  );
  await replica.start();
  return replica;
}

/** Returns a service's log so far. */
export function logOf({ logFile }: ProcessSpec): Record<string, unknown>[] {
  // Without the last one, which it may be writing.
  const lines = readFileSync(logFile, 'utf8').split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>);
}
