import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { outboxEvent } from '../../packages/publisher/outbox.ts';
import { serve } from '../lib/part.ts';

/** An upstream system: each transaction writes a row of its own and puts events into the outbox. */
export type OutboxCallerCommands = typeof commands;

/** `eventsEach`: in one transaction. */
export type Calling = { callers: number; eventsEach: number; forMs: number };

const MOST_CALLERS = 32;
const TICK_MS = 5;
const carrier = '6f1e2ab4-0f0c-4c1c-9a3c-0d6d0f6f3a51';
const actions = ['order.assigned', 'order.updated', 'order.picked_up', 'order.delivered'] as const;
const NOTE = 'x'.repeat(150);

let pool: pg.Pool | undefined;
let id = 0;

const commands = {
  connect(url: string): void {
    pool = new pg.Pool({ connectionString: url, max: MOST_CALLERS });
  },

  /** Runs this many callers at full speed. Resolves with the number of events committed. */
  async full({ callers, eventsEach, forMs }: Calling): Promise<number> {
    const until = performance.now() + forMs;
    let committed = 0;
    const call = async () => {
      while (performance.now() < until) {
        const { length } = await transact(eventsEach);
        committed += length;
      }
    };
    await Promise.all(Array.from({ length: callers }, call));
    return committed;
  },

  /** At an even rate. Resolves with the guid of each event and when it was known to be committed, ms since 1970. */
  async paced({ perSecond, forMs }: { perSecond: number; forMs: number }): Promise<[guid: string, at: number][]> {
    const beganAt = performance.now();
    const committed: Promise<[string, number][]>[] = [];
    for (let now = 0; now < forMs; now = performance.now() - beganAt) {
      while (committed.length < (now / 1_000) * perSecond) committed.push(transact(1));
      await sleep(TICK_MS);
    }
    return (await Promise.all(committed)).flat();
  },
};

async function transact(events: number): Promise<[guid: string, at: number][]> {
  if (pool === undefined) throw new Error('not connected');
  const client = await pool.connect();
  await client.query('begin');
  await client.query({ name: 'order', text: 'insert into orders (note) values ($1)', values: [NOTE] });
  const guids: string[] = [];
  for (let each = 0; each < events; each += 1) {
    const { guid, text, values } = outboxEvent(anEvent());
    guids.push(guid);
    await client.query({ name: 'publish', text, values });
  }
  await client.query('commit');
  const at = performance.timeOrigin + performance.now();
  client.release();
  return guids.map((guid) => [guid, at]);
}

function anEvent() {
  id += 1;
  const action = actions[id % actions.length] ?? 'order.updated';
  return {
    interface: 'carrier',
    action,
    parties: { carrier },
    payload: { id, number: `WB-${id}`, note: NOTE },
  } as const;
}

serve(commands);
