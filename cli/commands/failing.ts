import { Command, Option } from 'commander';
import type { OperationsNotice } from '@waybell/line/operations-notice';
import { formatDuration } from '@waybell/runtime/duration';
import {
  failingOrigins,
  oldestUndelivered,
  type FailingOrigin,
  type Undelivered,
} from '@waybell/subscription-api/failing';
import { interruptedSubscriptions, latestNotices, type Interrupted } from '@waybell/subscription-api/interrupted';
import { waitingEndpoints } from '@waybell/subscription-api/waiting-rooms';
import { accountCalled, namesOf, findAccountCalled, type NameOfAccount } from '../accounts.ts';
import { positive, durationMs, LISTENERS_OPTION } from '../options.ts';
import { print } from '../print.ts';
import { describeEndpoint } from '../waiting/describe-waiting.ts';
import { withDatabase } from '../with-database.ts';

const HOUR_MS = 3_600_000;

type Options = { since: number; account?: string; listeners?: true; limit: number };

export function failingCommand(): Command {
  return new Command('failing')
    .description(
      'list the receivers whose attempts fail most, the endpoints that deliveries wait for, the oldest unfinished, the subscriptions that get nothing, and the latest notices to the platform',
    )
    .addOption(new Option('--since <duration>', 'how far back to look').argParser(durationMs).default(HOUR_MS, '1h'))
    .option('--account <account>', 'of this account alone: its guid, its name, or the beginning of either')
    .option(...LISTENERS_OPTION)
    .option('--limit <count>', 'lines of each list, at most', positive, 20)
    .addHelpText(
      'after',
      '\nDATABASE_URL names the database; without it, the running stack is meant. Times are UTC.' +
        '\n\nExample:\n  ./waybell failing --since 24h\n',
    )
    .action(failing);
}

async function failing({ since, account, listeners, limit }: Options): Promise<void> {
  await withDatabase(process.env, async (postgres) => {
    const query = {
      sinceMs: Date.now() - since,
      account: account === undefined ? undefined : (await findAccountCalled(postgres, account)).guid,
      withListeners: listeners,
      limit,
    };
    const origins = await failingOrigins(postgres, query);
    const waiting = await waitingEndpoints(postgres, query);
    const undelivered = await oldestUndelivered(postgres, query);
    const interrupted = await interruptedSubscriptions(postgres, query);
    const notices = await latestNotices(postgres, query);
    const accounts = [...origins, ...waiting, ...undelivered, ...interrupted].map((each) => each.account);
    const nameOf = await namesOf(postgres, accounts);
    printSection(
      `failing most in the last ${formatDuration(since)}`,
      origins.map((origin) => describeOrigin(origin, nameOf)),
    );
    printSection(
      'waiting for endpoints, longest first',
      waiting.map((endpoint) => describeEndpoint(endpoint, nameOf)),
    );
    printSection(
      'oldest unfinished',
      undelivered.map((delivery) => describeUndelivered(delivery, nameOf)),
    );
    printSection(
      'subscriptions that are off, paused or stopped, or missed something',
      interrupted.map((subscription) => describeInterrupted(subscription, nameOf)),
    );
    printSection('latest notices', notices.map(describeNotice));
  });
}

function printSection(heading: string, lines: string[]): void {
  print(`${heading}:`, ...(lines.length === 0 ? ['none'] : lines).map((line) => `  ${line}`));
}

function describeOrigin({ account, origin, failed, attempts, reason }: FailingOrigin, nameOf: NameOfAccount): string {
  return `${accountCalled(account, nameOf)}  ${origin}  ${failed} of ${attempts} attempts failed, mostly ${reason}`;
}

function describeUndelivered({ delivery, account, action, at, attempts }: Undelivered, nameOf: NameOfAccount): string {
  return `${new Date(at).toISOString()}  delivery ${delivery}  ${action}  ${accountCalled(account, nameOf)}  ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} so far`;
}

const timeOf = (at: number) => new Date(at).toISOString();

function describeInterrupted(
  { subscription, account, client, action, url, state, since, until, reason, missed }: Interrupted,
  nameOf: NameOfAccount,
): string {
  return [
    state,
    ...(since === null ? [] : [`since ${timeOf(since)}`]),
    ...(until === null ? [] : [`until ${timeOf(until)}`]),
    ...(reason === null ? [] : [`(${reason})`]),
    ...(missed === null ? [] : [`missed ${missed}`]),
    ` ${action}  ${url}  ${accountCalled(account, nameOf)}  client ${client}  subscription ${subscription}`,
  ].join(' ');
}

function describeNotice({ at, kind, reason, count, ...about }: OperationsNotice): string {
  const whose = about.account_name ?? about.account_guid;
  if (about.host !== null) return [at, kind, about.host, `ends ${about.ends_at}`, whose].join('  ');
  const what = [kind, reason ?? '', count === null ? '' : `(${count})`].filter((word) => word !== '').join(' ');
  return [at, what, about.action ?? 'several actions', about.callback_url ?? '', whose].join('  ');
}
