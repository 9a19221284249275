import { Command } from 'commander';
import { parkedEndpoints } from '@waybell/subscription-api/parked-endpoints';
import { findAccount } from '@waybell/subscription-api/accounts';
import { namesOf } from '../account-called.ts';
import { positive } from '../count-option.ts';
import { openLine } from '../open-line.ts';
import { describeEndpoint } from '../parked/describe-parked.ts';
import type { ParkedSelection } from '../parked/parked-rows.ts';
import { releaseParked } from '../parked/release-parked.ts';
import { print } from '../print.ts';
import { report } from '../report.ts';
import { readGuid } from '../why/read-guid.ts';
import { withDatabase } from '../with-database.ts';

export function parkedCommand(): Command {
  const command = new Command('parked').description('see what waits for its endpoint, and put it back into its queues');
  command
    .command('list')
    .description('list the endpoints that deliveries wait for, those that wait longest first')
    .option('--account <guid>', 'of this account alone')
    .option('--limit <count>', 'endpoints, at most', positive, 20)
    .addHelpText(
      'after',
      '\nFor each: account, URL, how many and how much, when the oldest was made, whether it hangs or is full, whether a' +
        '\ndeliverer takes care of it, and the subscriptions. Times are UTC. DATABASE_URL names the database; without it, the' +
        '\nrunning stack is meant.\n\nExample:\n  ./waybell parked list --limit 5\n',
    )
    .action(list);
  command
    .command('release')
    .description('move what is parked into the delivery queues: before a rollback, for example')
    .option('--account <guid>', 'all of this account')
    .option('--subscription <guid>', 'all of this subscription')
    .option('--all', 'all there is')
    .option('--yes', 'really do it')
    .addHelpText(
      'after',
      '\nStop all deliverers first: while one lives that takes care of the rows, nothing is moved. Each delivery is published,' +
        '\nand deleted once the broker has it; what waits for its retry is then due at once. It may be stopped and run again:' +
        '\nof those published last, up to 256 are then published twice, and recognised. A deliverer started afterwards parks' +
        '\nagain what has no room. DATABASE_URL and AMQP_URL name the servers; without them, the running stack is meant.' +
        '\n\nExample:\n  ./waybell parked release --all --yes\n',
    )
    .action(release);
  return command.addHelpText('after', '\nExample:\n  ./waybell parked list\n');
}

async function list({ account, limit }: { account?: string; limit: number }): Promise<void> {
  const asked = { account: account === undefined ? undefined : readGuid(account, '--account'), limit };
  const found = await withDatabase(process.env, async (postgres) => {
    if (asked.account !== undefined) await findAccount(postgres, asked.account);
    const endpoints = await parkedEndpoints(postgres, asked);
    const nameOf = await namesOf(
      postgres,
      endpoints.map((endpoint) => endpoint.account),
    );
    print(...endpoints.map((endpoint) => describeEndpoint(endpoint, nameOf)));
    return endpoints;
  });
  if (found.length === 0) report('nothing is parked');
  if (found.length === limit) report(`there may be more: --limit ${limit * 10} shows them`);
}

type Options = { account?: string; subscription?: string; all?: true; yes?: true };

async function release(options: Options): Promise<void> {
  const choice = readChoice(options);
  if (!options.yes)
    throw new Error('nothing was moved: add --yes to move it. "./waybell parked list" shows what there is');
  await withDatabase(process.env, async (postgres) => {
    if (choice.kind === 'account') await findAccount(postgres, choice.guid);
    await using line = await openLine(process.env);
    const moved = await releaseParked({ postgres, line, choice, onMoved: (count) => report(`${count} moved so far`) });
    report(
      `moved into their queues: ${moved.deliveries} deliveries; published: ${moved.records} records of what became of attempts`,
    );
  });
}

function readChoice({ account, subscription, all }: Options): ParkedSelection {
  const given = [account, subscription, all].filter((each) => each !== undefined);
  if (given.length !== 1) throw new Error('say which: one of --account, --subscription and --all');
  if (account !== undefined) return { kind: 'account', guid: readGuid(account, '--account') };
  if (subscription !== undefined) return { kind: 'subscription', guid: readGuid(subscription, '--subscription') };
  return { kind: 'all' };
}
