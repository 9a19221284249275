import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { withConstants } from '@waybell/runtime/gone-settings';
import { readKeyRing } from '@waybell/runtime/secrets';
import { SERVER_NAMES } from '@waybell/stack/choose-sources';
import { startStack, type Stack } from '@waybell/stack/stack';
import { stackFolder } from '@waybell/stack/stack-folder';
import { readRecord } from '@waybell/stack/stack-record';
import type { PublisherCommands } from '../parts/publisher.ts';
import type { ReceiverCommands } from '../parts/receiver.ts';
import { startPart, type BenchPart } from './part.ts';
import type { Parts } from './processes.ts';
import { accountGuid, actionKeyOf, type Group } from './workload.ts';

/** A whole system of its own to measure, with its receiver and its upstream, each a process. */
export type Stand = AsyncDisposable & {
  stack: Stack;
  postgres: pg.Pool;
  receiver: BenchPart<ReceiverCommands>;
  publisher: BenchPart<PublisherCommands>;
  /** Subscribes the group; number n is called at `<path>/<n>` of 127.0.0.1, or of the address that `hostOf` says. */
  seed(group: Group, path: string, hostOf?: (n: number) => string): Promise<void>;
  /** Servers, receiver and publisher; contenders add theirs. */
  parts: Parts;
};

const homes = new Set<string>();
process.once('exit', () => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

/** Starts everything as `./waybell up` would, with the settings as shipped where `settings` says nothing else. */
export async function startStand(settings: Record<string, string> = {}): Promise<Stand> {
  const home = await mkdtemp(join(tmpdir(), 'waybell-bench-'));
  homes.add(home);
  const { PATH = '', HOME = '' } = process.env;
  const stack = await startStack({ home, env: { PATH, HOME, ...withConstants(settings) } });
  const receiver = startPart<ReceiverCommands>('parts/receiver.ts');
  const publisher = startPart<PublisherCommands>('parts/publisher.ts');
  const port = await receiver.call('listen');
  const postgres = new pg.Pool({ connectionString: stack.servers.url('postgres'), max: 2 });
  postgres.on('error', () => undefined);
  const { secretKeys } = readRecord(stackFolder(home));
  return {
    stack,
    postgres,
    receiver,
    publisher,
    parts: { ...serverParts(stack), receiver: [receiver.pid], publisher: [publisher.pid] },
    seed: (group, path, hostOf = () => '127.0.0.1') =>
      seed(postgres, secretKeys, { ...group, callbackUrl: (n) => `http://${hostOf(n)}:${port}${path}/${n}` }),
    async [Symbol.asyncDispose]() {
      await Promise.all([publisher.stop(), receiver.stop(), postgres.end(), stack.stop()]);
      rmSync(home, { recursive: true, force: true });
      homes.delete(home);
    },
  };
}

/** Servers that run here; those elsewhere or in containers have no pid to ask. */
function serverParts({ servers }: Stack): Parts {
  return Object.fromEntries(
    SERVER_NAMES.flatMap((name) => {
      const pid = servers.processes.find(({ spec }) => spec.name === name && spec.container === undefined)?.identity
        ?.pid;
      return pid === undefined ? [] : [[name, [pid]]];
    }),
  );
}

type Subscribers = Group & {
  /** The address at which subscriber n is called. */
  callbackUrl: (n: number) => string;
};

const BATCH = 20_000;

/** Accounts with this number and the subscription of each; what is there stays. */
const ACCOUNTS = `
  insert into waybell.accounts (guid, interface)
  select * from unnest($1::uuid[], $2::text[]) on conflict do nothing`;

/** The state after hours of traffic: each shows a success within the hour, which the next one after that hour will renew. */
const SUBSCRIPTIONS = `
  insert into waybell.subscriptions
    (guid, interface, account_guid, action, callback_url, verification_token_sealed, verification_token_key_id,
      client_id, last_success_at)
  select *, now() - random() * interval '1 hour'
  from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::bytea[], $7::text[], $8::text[])
  on conflict do nothing`;

/** Fills the tables as the API would, many rows at a time. */
async function seed(postgres: pg.Pool, secretKeys: string, subscribers: Subscribers): Promise<void> {
  for (let from = subscribers.from; from < subscribers.to; from += BATCH) {
    await seedBatch(postgres, secretKeys, { ...subscribers, from, to: Math.min(from + BATCH, subscribers.to) });
  }
  await postgres.query('vacuum analyze waybell.accounts, waybell.subscriptions');
}

async function seedBatch(postgres: pg.Pool, secretKeys: string, subscribers: Subscribers): Promise<void> {
  const keyRing = readKeyRing(secretKeys);
  const { from, to, callbackUrl, account } = subscribers;
  const rows = Array.from({ length: to - from }, (_, place) => {
    const n = from + place;
    const [, interfaceName, action] = /^(\w+)\.(.+)$/.exec(actionKeyOf(subscribers, n)) ?? [];
    const guid = randomUUID();
    return { n, guid, interfaceName, action, ...keyRing.seal(randomBytes(32).toString('base64url'), guid) };
  });
  const accounts = rows.map(({ n }) => accountGuid(account ?? n));
  const interfaces = rows.map(({ interfaceName }) => interfaceName);
  await postgres.query(ACCOUNTS, [accounts, interfaces]);
  await postgres.query(SUBSCRIPTIONS, [
    rows.map(({ guid }) => guid),
    interfaces,
    accounts,
    rows.map(({ action }) => action),
    rows.map(({ n }) => callbackUrl(n)),
    rows.map(({ sealed }) => sealed),
    rows.map(({ keyId }) => keyId),
    rows.map(({ n }) => (account === undefined ? 'default' : String(n))),
  ]);
}
