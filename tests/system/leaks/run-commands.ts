import { runWaybell } from '../../testing/run-waybell.ts';
import type { TestStack } from '../../testing/test-stack.ts';
import type { Planted } from './planted.ts';
import type { Saw } from './sightings.ts';

/** What `./waybell` says of a running system, and when it was told wrongly where that is. */
export async function runCommands(
  stack: TestStack,
  planted: Planted,
  { account, event }: { account: string; event: string },
): Promise<Saw[]> {
  const right = { AMQP_URL: stack.brokerUrl, DATABASE_URL: stack.stack.servers.url('postgres') };
  const secret = () => planted.plant('password of a wrong setting');
  const wrong = (address: string) => address.replace(/:[^:@/]*@/, `:${secret()}@`);
  const commands: [string, Record<string, string>][] = [
    [`token list --account ${account}`, {}],
    [`audit --account ${account} --json`, {}],
    [`why --event ${event} --json`, {}],
    ['rejected list --json', {}],
    ['audit', { DATABASE_URL: wrong(right.DATABASE_URL) }],
    ['audit', { DATABASE_URL: `postgres://me:${secret()}@[postgres/` }],
    ['rejected list', { AMQP_URL: wrong(right.AMQP_URL) }],
    ['rejected list', { AMQP_URL: `amqp://me:${secret()}@[rabbitmq/` }],
  ];
  return Promise.all(
    commands.map(async ([place, env]): Promise<Saw> => {
      const { stdout, stderr } = await runWaybell(stack, place.split(' '), { env: { LOG_LEVEL: 'debug', ...env } });
      return { channel: 'command', place, text: stdout + stderr };
    }),
  );
}
