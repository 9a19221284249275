import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { delivererClient } from '../comparators/http-clients.ts';
import { serve } from '../lib/part.ts';
import { loopbackAddress } from '../lib/workload.ts';

/** Calls many origins over TLS, by the deliverer's call path, in a process of its own. */
export type OriginsCallerCommands = typeof commands;

export type OriginsPass = { port: number; origins: number; concurrency: number; bodyBytes: number };

const KEEP_ALIVE_MS = 2_000;
/** Until idle connections are closed, so that each pass makes its own. */
const CLOSING_MS = KEEP_ALIVE_MS + 2_000;

// No DNS server: o123.bench.test is at an address of its own on this machine.
const resolveHost = (host: string) =>
  Promise.resolve([{ address: loopbackAddress(Number(/\d+/.exec(host)?.[0])), family: 4 }]);

const post = delivererClient({ keepAliveMs: KEEP_ALIVE_MS, resolveHost });

const commands = {
  /** One request to each; resolves with CPU and, once connections are closed, the resident memory of this process. */
  async pass({ port, origins, concurrency, bodyBytes }: OriginsPass): Promise<{ cpuMicros: number; rssMib: number }> {
    const body = Buffer.alloc(bodyBytes, 'x');
    const before = process.cpuUsage();
    let next = 0;
    const callWhileAny = async () => {
      while (next < origins) {
        const url = `https://o${next++}.bench.test:${port}/ok`;
        const status = await post(url, { guid: randomUUID(), body });
        if (status !== 200) throw new Error(`${url} answered ${status}`);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, callWhileAny));
    const { user, system } = process.cpuUsage(before);
    await sleep(CLOSING_MS);
    return { cpuMicros: user + system, rssMib: process.memoryUsage.rss() / 2 ** 20 };
  },
};

serve(commands);
