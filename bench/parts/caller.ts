import { randomUUID } from 'node:crypto';
import { httpClient, type HttpClientName } from '../comparators/http-clients.ts';
import { serve } from '../lib/part.ts';

/** Sends requests by one client, in a process of its own. */
export type CallerCommands = typeof commands;

export type Calls = { client: HttpClientName; url: string; forMs: number; concurrency: number; bodyBytes: number };

const commands = {
  /** Resolves with what was sent, and what it cost this process. */
  async call({ client, url, forMs, concurrency, bodyBytes }: Calls): Promise<{ requests: number; cpuMicros: number }> {
    const post = httpClient(client);
    const body = Buffer.alloc(bodyBytes, 'x');
    const end = performance.now() + forMs;
    const before = process.cpuUsage();
    let requests = 0;
    const callWhileTime = async () => {
      for (; performance.now() < end; requests += 1) {
        const status = await post(url, { guid: randomUUID(), body });
        if (status !== 200) throw new Error(`${client}: answered ${status}`);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, callWhileTime));
    const { user, system } = process.cpuUsage(before);
    return { requests, cpuMicros: user + system };
  },
};

serve(commands);
