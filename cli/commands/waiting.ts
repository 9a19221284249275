import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { outboxIn, outboxServices } from '@waybell/line/outbox/postgres-outbox';
import { waitingIn, WAITING_SETTINGS } from '@waybell/line/waiting-room/postgres-waiting-store';
import { findAccount } from '@waybell/subscription-api/accounts';
import { waitingDestinations, waitingEndpoints } from '@waybell/subscription-api/waiting-rooms';
import { namesOf, findAccountCalled } from '../accounts.ts';
import { openLine } from '../open-line.ts';
import { positive, LISTENERS_OPTION, readGuid } from '../options.ts';
import { print, report } from '../print.ts';
import { describeDestination, describeEndpoint } from '../waiting/describe-waiting.ts';
import {
  chosenRooms,
  releaseOutbox,
  releaseWaiting,
  type WaitingSelection,
  type ReleasedRows,
} from '../waiting/release-waiting.ts';
import { withDatabase } from '../with-database.ts';

/** Rooms that are named, at most. */
const MOST_NAMED = 20;

type ListOptions = { account?: string; listeners?: true; limit: number };

type Options = { account?: string; subscription?: string; all?: true; yes?: true };

export function waitingCommand(): Command {
  const command = new Command('waiting').description(
    'see what waits in Postgres for its endpoint or for RabbitMQ, and put it back into its queues',
  );
  command
    .command('list')
    .description('list the endpoints and destinations that something waits for, those that wait longest first')
    .option('--account <account>', 'endpoints of this account alone: its guid, its name, or the beginning of either')
    .option(...LISTENERS_OPTION)
    .option('--limit <count>', 'endpoints, and destinations, at most', positive, 20)
    .addHelpText(
      'after',
      '\nFor each endpoint: account, URL, how many deliveries and how much, when the oldest was made, why they wait (full: it takes no' +
        '\nmore at once; hung: it does not answer; busy: it said that it was too much; egress: our network has no way out; open: a' +
        '\nrequest is under way), whether it is open or shut (takes nothing), who has it in hand or when it is tried next, and the' +
        '\nsubscriptions. For each destination: service, exchange and routing key, and the same of publications that RabbitMQ does' +
        '\nnot accept. Times are UTC. DATABASE_URL names the database; without it, the running stack is meant.' +
        '\n\nExample:\n  ./waybell waiting list --limit 5\n',
    )
    .action(list);
  command
    .command('release')
    .description('move what waits into its queues: before a rollback, for example')
    .option('--account <guid>', 'all of this account')
    .option('--subscription <guid>', 'all of this subscription')
    .option('--all', 'all there is, publications as well')
    .option('--yes', 'really do it')
    .addHelpText(
      'after',
      '\nWhat another process has in hand stays, and is named: stop the deliverers, and with --all the event-router, to move' +
        '\neverything. Each delivery is published, and deleted once the broker has it; what waits for its retry is then due at once.' +
        '\nRequests under way stay until nobody makes them any more. It may be stopped and run again: of those published last, up to' +
        '\n2,048 are then published twice, and recognised. A deliverer that runs has what finds no room wait again.' +
        '\nDATABASE_URL and AMQP_URL name the servers; without them, the running stack is meant.' +
        '\n\nExample:\n  ./waybell waiting release --all --yes\n',
    )
    .action(release);
  return command.addHelpText('after', '\nExample:\n  ./waybell waiting list\n');
}

async function list({ account, listeners, limit }: ListOptions): Promise<void> {
  const most = await withDatabase(process.env, async (postgres) => {
    const query = {
      account: account === undefined ? undefined : (await findAccountCalled(postgres, account)).guid,
      withListeners: listeners,
      limit,
    };
    const endpoints = await waitingEndpoints(postgres, query);
    const destinations = query.account === undefined ? await waitingDestinations(postgres, query) : [];
    const nameOf = await namesOf(
      postgres,
      endpoints.map((endpoint) => endpoint.account),
    );
    print(
      ...endpoints.map((endpoint) => describeEndpoint(endpoint, nameOf)),
      ...destinations.map((destination) => describeDestination(destination)),
    );
    return Math.max(endpoints.length, destinations.length);
  });
  if (most === 0) report('nothing waits');
  if (most === limit) report(`there may be more: --limit ${limit * 10} shows them`);
}

async function release(options: Options): Promise<void> {
  const choice = readChoice(options);
  if (!options.yes)
    throw new Error('nothing was moved: add --yes to move it. "./waybell waiting list" shows what there is');
  const subscription = choice.kind === 'subscription' ? choice.guid : undefined;
  const released: ReleasedRows = { deliveries: 0, publications: 0, records: 0, claimedByOthers: [] };
  await withDatabase(process.env, async (postgres) => {
    if (choice.kind === 'account') await findAccount(postgres, choice.guid);
    await using line = await openLine(process.env);
    for (const [name, value] of Object.entries(WAITING_SETTINGS)) await postgres.query(`set ${name} = ${value}`);
    const rooms = await chosenRooms(postgres, choice);
    const store = waitingIn(postgres, { process: randomUUID() });
    const onMoved = (count: number) => report(`${count} moved so far`);
    await releaseWaiting({ store, line, rooms, subscription, released, onMoved });
    if (choice.kind !== 'all') return;
    for (const service of outboxServices) {
      const called = `the outbox of the ${service}`;
      await releaseOutbox({ store: outboxIn(postgres, service), called, line, released });
    }
  });
  reportReleased(released);
}

function reportReleased({ deliveries, publications, records, claimedByOthers }: ReleasedRows): void {
  report(
    `moved into their queues: ${deliveries} deliveries and ${publications} publications; published: ${records} records of deliveries that have no body any more`,
  );
  if (claimedByOthers.length === 0) return;
  const named = claimedByOthers.slice(0, MOST_NAMED);
  const more = claimedByOthers.length - named.length;
  throw new Error(
    `in the hands of other processes, and left to them: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}. Stop these processes (one that was killed counts for 20 s more), then run it again`,
  );
}

function readChoice({ account, subscription, all }: Options): WaitingSelection {
  const given = [account, subscription, all].filter((each) => each !== undefined);
  if (given.length !== 1) throw new Error('say which: one of --account, --subscription and --all');
  if (account !== undefined) return { kind: 'account', guid: readGuid(account, '--account') };
  if (subscription !== undefined) return { kind: 'subscription', guid: readGuid(subscription, '--subscription') };
  return { kind: 'all' };
}
