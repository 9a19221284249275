import { stackOf } from './stack-folder.ts';
import { requireRunning } from './stack-state.ts';

/** An address as the environment names it, else as the running stack has it. Throws NotRunning. */
export function addressOf(name: 'AMQP_URL' | 'DATABASE_URL' | 'REDIS_URL' | 'API_URL', env: NodeJS.ProcessEnv): string {
  const address = env[name] || requireRunning(stackOf(env)).addresses[name];
  if (address === undefined) throw new Error(`the running stack is still starting and has no ${name} yet`);
  return address;
}
