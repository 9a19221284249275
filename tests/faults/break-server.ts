import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@waybell/runtime/testing/until';
import type { Stage } from './stage.ts';

type ServerName = 'rabbitmq' | 'postgres' | 'redis';

/** `kill -9`; its supervisor starts it again. */
export async function killServer({ stack }: Stage, name: ServerName): Promise<void> {
  const server = stack.stack.servers.process(name);
  await server.kill();
  await until(`${name} is back`, () => server.state === 'ready');
}

export async function stopServer({ stack }: Stage, name: ServerName, awayMs: number): Promise<void> {
  const server = stack.stack.servers.process(name);
  await server.stop();
  await sleep(awayMs);
  await server.start();
}
