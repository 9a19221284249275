/** A process that calls or relays, and kills itself at a point that it is told. */
import { flushCompileCache } from 'node:module';
import pg from 'pg';
import { outboxEvent, type OutboxConnection, type OutboxPool } from '../outbox.ts';
import { createPublisher, type Publisher } from '../publisher.ts';
import { createRelay } from '../relay.ts';
import { anEvent } from './an-event.ts';
import type { CallerPoint, Doom, RelayPoint } from './run-doomed.ts';

// Killed, it would have kept nothing at its end for those that are started after it.
flushCompileCache();
// Its starter has written it.
const { urls, die, ...role } = JSON.parse(process.argv[2] ?? '') as Doom;
let passed = 0;

/** Ends here without a word, if this is the place and it was passed often enough. */
function pass(point: CallerPoint | RelayPoint): void {
  if (die?.point !== point) return;
  passed += 1;
  if (passed === die.after) process.kill(process.pid, 'SIGKILL');
}

async function call(transactions: number): Promise<void> {
  const client = new pg.Client({ connectionString: urls.postgres });
  await client.connect();
  for (let id = 0; id < transactions; id += 1) {
    const { guid, text, values } = outboxEvent(anEvent(id));
    pass('before begin');
    await client.query('begin');
    await client.query('insert into orders (guid, event) values ($1, $2)', [guid, values[0]]);
    await client.query(text, values);
    pass('after insert');
    // Under way, or done, when it dies.
    const committed = client.query(id % 10 === 9 ? 'rollback' : 'commit');
    pass('in commit');
    await committed;
    pass('after commit');
  }
  await client.end();
}

function relay(): void {
  const pool = new pg.Pool({ connectionString: urls.postgres, max: 1 });
  const publisher = createPublisher({ url: urls.rabbitmq });
  const log = { info: () => undefined, warn: (facts: object, message: string) => console.error(message, facts) };
  createRelay({ pool: watched(pool), publisher: dying(publisher), batch: 20, log });
}

function dying(publisher: Publisher): Publisher {
  return {
    ...publisher,
    async send(event, options) {
      const sent = publisher.send(event, options);
      // In the next turn what was written has left.
      if (die?.point === 'after publish') setImmediate(() => pass('after publish'));
      await sent;
    },
  };
}

function watched(pool: pg.Pool): OutboxPool {
  return {
    async connect() {
      const connection = await pool.connect();
      const query = connection.query.bind(connection) as OutboxConnection['query']; // One of its forms.
      let isRemoving = false;
      return Object.assign(connection, {
        async query(text: string, values?: unknown[]) {
          if (text.startsWith('delete')) pass('after confirm');
          const answered = query(text, values);
          if (text === 'commit' && isRemoving) pass('in removal');
          const result = await answered;
          if (text.startsWith('delete')) pass('after delete');
          if (text === 'commit' && isRemoving) pass('after removal');
          isRemoving = text.startsWith('delete');
          return result;
        },
      });
    },
  };
}

if (role.role === 'caller') await call(role.transactions);
else relay();
