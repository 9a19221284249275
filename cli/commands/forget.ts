import { Command } from 'commander';
import { forget } from '@waybell/delivery-log/forget';
import type { AskedKey } from '@waybell/delivery-log/read/events';
import { findAnything } from '@waybell/delivery-log/read/find-anything';
import { normalizedKey } from '@waybell/events/event';
import { RejectedQueue } from '@waybell/line/operating/rejected-queue';
import { isOf } from '@waybell/rejected/selection';
import type { Queryable } from '@waybell/runtime/postgres';
import { brokerOf } from '@waybell/stack/address-of';
import { report } from '../print.ts';
import { withDatabase } from '../with-database.ts';

type Options = { subject?: string; kind?: string; yes?: true };

export function forgetCommand(): Command {
  return new Command('forget')
    .description('delete what was sent about an order or anything else, what receivers answered, and rejected events')
    .argument('[key]', 'the number, VIN or guid of an order, a vehicle, an offer, a load request …')
    .option('--subject <key>', 'the same')
    .option('--kind <kind>', 'which kind of key it is, such as order_id, where several have the same')
    .option('--yes', 'really delete it, for good; without it, what would be deleted is counted')
    .addHelpText(
      'after',
      '\nThat something was sent, when, to whom and with what result stays on record. What waits for its endpoint is not sent any more:' +
        '\nit ends as dropped, forgotten. What is on its way otherwise is delivered first: run it again afterwards.' +
        '\n DATABASE_URL and AMQP_URL name the servers; without them, the running stack is meant.' +
        '\n\nExample:\n  ./waybell forget 4711 --yes\n',
    )
    .action(run);
}

async function run(argument: string | undefined, { subject = argument, kind, ...options }: Options): Promise<void> {
  if (subject === undefined || subject.trim() === '') throw new Error('say what about: ./waybell forget 4711');
  const about = { key: normalizedKey(subject), kind };
  const isDryRun = options.yes !== true;
  const { events, bodies, answers, waiting, onItsWay } = await withDatabase(process.env, async (postgres) => {
    await assertOneThing(postgres, about);
    await postgres.query('begin');
    const forgotten = await forget(postgres, about);
    await postgres.query(isDryRun ? 'rollback' : 'commit');
    return forgotten;
  });
  const rejected = await forgetRejected(about, isDryRun);
  report(
    `${events} events are about it: ${isDryRun ? 'would delete' : 'deleted'} ${bodies} bodies and ${answers} answers from the log, ${waiting} deliveries that wait, which ${isDryRun ? 'would' : 'will'} be dropped as forgotten, and ${rejected} messages from the rejected queue`,
  );
  if (isDryRun) throw new Error('nothing was deleted: add --yes to delete it for good');
  if (onItsWay > 0)
    report(
      `${onItsWay} messages wait in Postgres on their way to RabbitMQ, and some may be about it: run this again when ./waybell status says that nothing waits for RabbitMQ`,
    );
}

/** The same key may be that of several things: an order's number, and another's id. */
async function assertOneThing(postgres: Queryable, { key, kind }: AskedKey): Promise<void> {
  const found = await findAnything(postgres, key, { as: 'key' });
  const kinds = found.flatMap((each) => (each.kind === 'key' ? [each.keyKind] : []));
  if (kind === undefined && kinds.length > 1)
    throw new Error(`"${key}" is ${kinds.join(' and ')}: say which with --kind; nothing was deleted`);
}

async function forgetRejected(about: AskedKey, isDryRun: boolean): Promise<number> {
  await using queue = await RejectedQueue.open(brokerOf(process.env));
  let found = 0;
  for await (const rejected of queue.messages()) {
    if (!isOf(rejected, about)) continue;
    if (!isDryRun) queue.remove(rejected);
    found += 1;
  }
  return found;
}
