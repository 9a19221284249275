import { Command } from 'commander';
import { forget } from '@waybell/delivery-log/ask/forget';
import { RejectedQueue } from '@waybell/line/broker/rejected-queue';
import { names } from '@waybell/rejected/names';
import { brokerOf } from '@waybell/stack/address-of';
import { report } from '../report.ts';
import { readGuid } from '../why/read-guid.ts';
import { withDatabase } from '../with-database.ts';

export function forgetCommand(): Command {
  return new Command('forget')
    .description(
      'delete what was sent about an order or anything else with a guid, what receivers answered, and rejected events',
    )
    .requiredOption('--subject <guid>', 'an order, a vehicle, an offer, a load request …')
    .option('--yes', 'really delete it, for good')
    .addHelpText(
      'after',
      '\nThat something was sent, when, to whom and with what result stays on record. What waits for its endpoint is not sent any more:' +
        '\nit ends as dropped, forgotten. What is on its way otherwise is delivered first: run it again afterwards.' +
        '\n DATABASE_URL and AMQP_URL name the servers; without them, the running stack is meant.' +
        '\n\nExample:\n  ./waybell forget --subject 5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11 --yes\n',
    )
    .action(run);
}

async function run(options: { subject: string; yes?: true }): Promise<void> {
  const subject = readGuid(options.subject, '--subject');
  if (!options.yes) throw new Error('nothing was deleted: add --yes to delete it for good');
  const { events, bodies, answers, parked, onItsWay } = await withDatabase(process.env, (postgres) =>
    forget(postgres, { key: subject }),
  );
  const rejected = await forgetRejected(subject);
  report(
    `${events} events are about it: deleted ${bodies} bodies and ${answers} answers from the log, ${parked} parked deliveries, which will be dropped as forgotten, and ${rejected} messages from the rejected queue`,
  );
  if (onItsWay > 0)
    report(
      `${onItsWay} messages wait in Postgres on their way to RabbitMQ, and some may be about it: run this again when ./waybell status shows none that is kept`,
    );
}

async function forgetRejected(subject: string): Promise<number> {
  await using queue = await RejectedQueue.open(brokerOf(process.env));
  let removed = 0;
  for await (const rejected of queue.messages()) {
    if (!names(rejected, subject)) continue;
    queue.remove(rejected);
    removed += 1;
  }
  return removed;
}
