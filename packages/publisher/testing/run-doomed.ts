import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { until } from '@waybell/runtime/testing/until';
import { readOutboxFigures } from '../outbox.ts';
import type { OutboxStand } from './outbox-stand.ts';

export const callerPoints = ['before begin', 'after insert', 'in commit', 'after commit'] as const;
export const relayPoints = ['after publish', 'after confirm', 'after delete', 'in removal', 'after removal'] as const;
export type CallerPoint = (typeof callerPoints)[number];
export type RelayPoint = (typeof relayPoints)[number];

/** `after`: how often it may pass the point. */
type At<Point> = { point: Point; after: number };
export type Doom = { urls: { postgres: string; rabbitmq: string } } & (
  | { role: 'caller'; transactions: number; die?: At<CallerPoint> }
  | { role: 'relay'; die?: At<RelayPoint> }
);

type Process = Disposable & { ended: Promise<NodeJS.Signals | number | null> };

function start(doom: Doom): Process {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'doomed.ts'), JSON.stringify(doom)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return {
    ended: new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code))),
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

/** How much is committed at least, and in how many lives of a caller. */
export type Extent = { events: number; lives: number };

/**
 * Kills callers and relays, until it did so at each point and so many events are committed, and lets one relay finish.
 * Resolves with what was put aside in the same transactions as the events.
 */
export async function runDoomed(stand: OutboxStand, { events, lives }: Extent): Promise<Map<string, string>> {
  const urls = { postgres: stand.url, rabbitmq: stand.broker.url };
  const spared = new Set<string>([...callerPoints, ...relayPoints]);
  await stand.postgres.query('create table orders (guid text primary key, event text not null)');
  const committed = async () => (await stand.postgres.query<{ guid: string; event: string }>('table orders')).rows;
  const isEmpty = async () => (await readOutboxFigures(stand.postgres)).waiting === 0;
  for (let turn = 0; spared.size > 0 || (await committed()).length < events; turn += 1) {
    const calls = { point: callerPoints[turn % callerPoints.length]!, after: Math.ceil(events / lives) + (turn % 7) };
    const relays = { point: relayPoints[turn % relayPoints.length]!, after: 1 + (turn % 3) };
    using caller = start({ role: 'caller', urls, transactions: events, die: calls });
    using relay = start({ role: 'relay', urls, die: relays });
    if ((await caller.ended) === 'SIGKILL') spared.delete(calls.point);
    const died = relay.ended.then((end) => {
      if (end === 'SIGKILL') spared.delete(relays.point);
      return true;
    });
    await Promise.race([died, until('the outbox is empty', isEmpty)]);
  }
  using _last = start({ role: 'relay', urls });
  await until('the outbox is empty', isEmpty);
  return new Map((await committed()).map(({ guid, event }) => [guid, event]));
}
