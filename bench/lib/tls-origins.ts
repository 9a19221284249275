import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anAuthority } from '@waybell/deliverer/testing/certificate';
import type { OriginsCallerCommands } from '../parts/origins-caller.ts';
import type { Handshakes, TlsReceiverCommands } from '../parts/tls-receiver.ts';
import { startPart, type BenchPart } from './part.ts';

/** One request to each origin: CPU of a request in µs, resident memory in MiB after it. */
export type TlsPass = Handshakes & { cpuPerRequest: number; rssMib: number };

type TlsWork = { origins: number; passes: number; concurrency: number; bodyBytes: number };

/** Calls every origin, pass after pass; connections are closed in between. They are names of one server. */
export async function tlsPasses({ passes, ...work }: TlsWork): Promise<TlsPass[]> {
  const authority = anAuthority('waybell bench');
  const folder = mkdtempSync(join(tmpdir(), 'waybell-bench-'));
  const authorityFile = join(folder, 'authority.pem');
  writeFileSync(authorityFile, authority.cert);
  const receiver = startPart<TlsReceiverCommands>('parts/tls-receiver.ts');
  const caller = startPart<OriginsCallerCommands>('parts/origins-caller.ts', { NODE_EXTRA_CA_CERTS: authorityFile });
  try {
    const port = await receiver.call('listen', authority.issue({ name: '*.bench.test' }));
    const results: TlsPass[] = [];
    while (results.length < passes) results.push(await onePass({ receiver, caller }, { ...work, port }));
    return results;
  } finally {
    await Promise.all([caller.stop(), receiver.stop()]);
    rmSync(folder, { recursive: true });
  }
}

type Both = { receiver: BenchPart<TlsReceiverCommands>; caller: BenchPart<OriginsCallerCommands> };

async function onePass({ receiver, caller }: Both, work: Omit<TlsWork, 'passes'> & { port: number }): Promise<TlsPass> {
  const { cpuMicros, rssMib } = await caller.call('pass', work);
  return { ...(await receiver.call('takeHandshakes')), cpuPerRequest: cpuMicros / work.origins, rssMib };
}
