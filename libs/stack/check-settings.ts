import { InvalidEnvironment } from '@waybell/runtime/environment';
import type { StackService } from './services.ts';
import { topologyOf } from './prepare.ts';
import { RECEIVERS_HERE } from './service-process.ts';

/** In the place of what the stack chooses only once it runs. */
const CHOSEN = {
  AMQP_URL: 'amqp://localhost',
  DATABASE_URL: 'postgres://localhost',
  REDIS_URL: 'redis://localhost',
  SECRET_KEYS: `any:${Buffer.alloc(32).toString('base64')}`,
};

/**
 * Reads every setting as the services will. Throws InvalidEnvironment, with all that is wrong, before anything runs: a
 * service would say so only once the servers are up, and each its own part.
 */
export async function checkSettings(services: readonly StackService[], env: NodeJS.ProcessEnv): Promise<void> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  // The stack gives each service a port of its own for health.
  const settings = { ...CHOSEN, ...RECEIVERS_HERE, ...given, HEALTH_PORT: undefined };
  const configs = await Promise.all(services.map(({ config }) => config()));
  const problems = [...configs.map(({ readConfig }) => readConfig), topologyOf].flatMap((read) =>
    problemsOf(() => read(settings)),
  );
  if (problems.length > 0) throw new InvalidEnvironment([...new Set(problems)]);
}

function problemsOf(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof InvalidEnvironment) return error.problems;
    throw error;
  }
}
