import { join } from 'node:path';
import { reaches } from '@waybell/stack/ports';
import { STARTING_LIMIT_MS, SupervisedProcess, type ProcessSpec } from '@waybell/stack/supervised-process';

type Program = Pick<ProcessSpec, 'name' | 'command' | 'args' | 'cwd'> & Partial<ProcessSpec> & { port: number };

/** Starts a server that no stack has. Resolves once its port is there, unless told what to wait for; its end is final. */
export async function startProgram({ port, ...program }: Program): Promise<SupervisedProcess> {
  const started = new SupervisedProcess(
    {
      role: 'server',
      env: {},
      logFile: join(program.cwd, `${program.name}.log`),
      address: `127.0.0.1:${port}`,
      waitsFor: async () => ((await reaches({ host: '127.0.0.1', port })) ? undefined : 'its port'),
      readyMs: STARTING_LIMIT_MS,
      graceMs: 10_000,
      ...program,
    },
    { restart: 'never', onEvent: () => undefined },
  );
  await started.start();
  return started;
}
