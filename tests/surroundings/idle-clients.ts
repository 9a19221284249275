import { Agent, request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { stack } from './stand.ts';

/** Longer than nginx (60 s; 75 s for its own clients) and balancers of Amazon (60 s) keep what is idle. */
const IDLE_MS = 77_000;

type Idle = { url: string; agent: Agent; since: number };

/** Connections that are left alone from the first test on; the last one looks at them. */
export function idleClients(): { look(): void } {
  const idle: Idle[] = [];

  beforeAll(async () => {
    for (const address of ['API_URL', 'ADMIN_URL']) {
      const url = `${stack.stack.addresses[address]}/openapi.json`;
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      // A load balancer ignores the API's keep-alive timeout.
      agent.on('free', (socket: Socket) => socket.setTimeout(0));
      await ask({ url, agent });
      idle.push({ url, agent, since: wallClockMs() });
    }
  });

  return {
    look() {
      describe('a connection of a balancer to the API that was idle for 77 s', () => {
        test('is still there', async () => {
          for (const { url, agent, since } of idle) {
            await until('it was idle for long', () => wallClockMs() - since > IDLE_MS);
            expect(await ask({ url, agent })).toBe(true);
            agent.destroy();
          }
        });
      });
    },
  };
}

/** Whether the answer came over a connection that was there. */
async function ask({ url, agent }: Pick<Idle, 'url' | 'agent'>): Promise<boolean> {
  const asked = request(url, { agent }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return asked.reusedSocket;
}
