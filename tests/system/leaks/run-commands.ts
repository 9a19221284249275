import { runWaybell } from '@waybell/cli/testing/run-waybell';
import type { TestStack } from '../../testing/test-stack.ts';
import type { Planted } from './planted.ts';
import type { Saw } from './sightings.ts';

/** Runs `./waybell` against a running system, with right and wrong addresses. */
export async function runCommands(
  stack: TestStack,
  planted: Planted,
  { account, event, token }: { account: string; event: string; token: string },
): Promise<Saw[]> {
  const right = { AMQP_URL: stack.brokerUrl, DATABASE_URL: stack.stack.servers.url('postgres') };
  const secret = () => planted.plant('password of a wrong setting');
  const wrong = (address: string) => address.replace(/:[^:@/]*@/, `:${secret()}@`);
  const client = { API_URL: stack.stack.addresses['API_URL'] ?? '', WAYBELL_TOKEN: token };
  const commands: [string, Record<string, string>][] = [
    ['credentials list', client],
    ['credentials list --json', client],
    ['credentials put receiver.example.com --file -', client],
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
      const { stdout, stderr } = await runWaybell(stack, place.split(' '), {
        env: { LOG_LEVEL: 'debug', ...env },
        // One reads it, and it is no JSON.
        input: planted.plant('refused credential'),
      });
      return { channel: 'command', place, text: stdout + stderr };
    }),
  );
}
