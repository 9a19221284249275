import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HTTP_CLIENTS } from '../comparators/http-clients.ts';
import { inTurn, ratios } from '../lib/in-turn.ts';
import { startPart, type BenchPart } from '../lib/part.ts';
import type { BarCheck, Table } from '../lib/report.ts';
import type { Scenario } from '../lib/scenario.ts';
import { spread } from '../lib/statistics.ts';
import type { CallerCommands } from '../parts/caller.ts';
import type { ReceiverCommands } from '../parts/receiver.ts';
import { anAuthority } from '@waybell/runtime/testing/certificate';
import type { OriginsCallerCommands } from '../parts/origins-caller.ts';
import type { Handshakes, TlsReceiverCommands } from '../parts/tls-receiver.ts';

const CONCURRENCY = 64;
const BODY_BYTES = 300;

export const http: Scenario = {
  name: 'F7',
  description: 'a request alone: the call path of the deliverer beside undici and axios',
  async run({ isQuick, rounds, announce }) {
    const [warmMs, measureMs] = isQuick ? [1_000, 2_000] : [2_000, 5_000];
    const receiver = startPart<ReceiverCommands>('parts/receiver.ts');
    const port = await receiver.call('listen');
    const contenders = HTTP_CLIENTS.map((name) => ({ name }));
    const runs = await inTurn({ contenders, rounds, announce }, async ({ name }) => {
      const caller = startPart<CallerCommands>('parts/caller.ts');
      const calls = {
        client: name,
        url: `http://127.0.0.1:${port}/ok`,
        concurrency: CONCURRENCY,
        bodyBytes: BODY_BYTES,
      };
      await caller.call('call', { ...calls, forMs: warmMs });
      const { requests, cpuMicros } = await caller.call('call', { ...calls, forMs: measureMs });
      await caller.stop();
      return { cpuPerRequest: cpuMicros / requests, perSecond: requests / (measureMs / 1_000) };
    });
    await receiver.stop();
    const [origins, passes] = isQuick ? [2_000, 4] : [10_000, 5];
    announce(`TLS with ${origins} origins`);
    const overTls = await tlsPasses({ origins, passes, concurrency: CONCURRENCY, bodyBytes: BODY_BYTES });
    return {
      workload: `POSTs of ${BODY_BYTES} bytes, ${CONCURRENCY} at once, to one origin that answers 200 at once. Then by the deliverer's call path over TLS, one to each of ${origins} origins, ${passes} times over; connections are closed in between.`,
      settings: { rounds, warmMs, measureMs, origins, passes },
      rounds: { ...Object.fromEntries(runs), 'over TLS': overTls },
      tables: [
        {
          title: 'One process sending',
          columns: ['', 'CPU per request, µs', 'requests/s'],
          rows: [...runs].map(([name, all]) => [
            name,
            spread(all.map(({ cpuPerRequest }) => cpuPerRequest)),
            spread(all.map(({ perSecond }) => perSecond)),
          ]),
        },
        tlsTable(overTls),
      ],
      checks: [
        {
          what: 'CPU per request, times axios with our adapter',
          figure: ratios(runs, 'deliverer', 'axios with our adapter', ({ cpuPerRequest }) => cpuPerRequest),
          bar: { atMost: 1.3 },
        },
        ...tlsChecks(overTls),
      ],
    };
  },
};

function tlsTable(passes: readonly TlsPass[]): Table {
  return {
    title: 'Over TLS, the deliverer',
    columns: ['pass', 'whole handshakes', 'resumed', 'CPU per request, µs', 'resident, MiB'],
    rows: passes.map(({ full, resumed, cpuPerRequest, rssMib }, at) => [
      String(at + 1),
      full,
      resumed,
      cpuPerRequest,
      rssMib,
    ]),
  };
}

function tlsChecks([, second, ...later]: readonly TlsPass[]): BarCheck[] {
  const repeated = [second, ...later].filter((pass) => pass !== undefined);
  const sum = (figure: (pass: TlsPass) => number) => repeated.reduce((all, pass) => all + figure(pass), 0);
  const reused = sum(({ resumed }) => resumed) / sum(({ full, resumed }) => full + resumed);
  const growth = (later.at(-1)?.rssMib ?? NaN) / (second?.rssMib ?? NaN);
  return [
    { what: 'TLS: sessions reused after the first pass', figure: reused, bar: { atLeast: 0.9 } },
    { what: 'TLS: resident memory after the last pass, times the second', figure: growth, bar: { atMost: 1.15 } },
  ];
}

/** One request to each origin: CPU of a request in µs, resident memory in MiB after it. */
type TlsPass = Handshakes & { cpuPerRequest: number; rssMib: number };

type TlsWork = { origins: number; passes: number; concurrency: number; bodyBytes: number };

/** Calls every origin, pass after pass; connections are closed in between. They are names of one server. */
async function tlsPasses({ passes, ...work }: TlsWork): Promise<TlsPass[]> {
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
  return { ...(await receiver.call('newHandshakes')), cpuPerRequest: cpuMicros / work.origins, rssMib };
}
