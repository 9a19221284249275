import { Command, Option } from 'commander';
import {
  failingOrigins,
  oldestUndelivered,
  type FailingOrigin,
  type Undelivered,
} from '@waybell/delivery-log/read/failing';
import { parkedEndpoints } from '@waybell/delivery-log/read/parked';
import { formatDuration } from '@waybell/runtime/duration';
import { positive } from '../count-option.ts';
import { durationMs } from '../duration-option.ts';
import { describeEndpoint } from '../parked/describe-parked.ts';
import { readGuid } from '../why/read-guid.ts';
import { withDatabase } from '../with-database.ts';
import { print } from '../print.ts';

const HOUR_MS = 3_600_000;

export function failingCommand(): Command {
  return new Command('failing')
    .description(
      'list the receivers whose attempts fail most, the endpoints that deliveries wait for, and the oldest without an end',
    )
    .addOption(new Option('--since <duration>', 'how far back to look').argParser(durationMs).default(HOUR_MS, '1h'))
    .option('--account <guid>', 'of this account alone')
    .option('--limit <count>', 'lines of each list, at most', positive, 20)
    .addHelpText(
      'after',
      '\nDATABASE_URL names the database; without it, the running stack is meant. Times are UTC.' +
        '\n\nExample:\n  ./waybell failing --since 24h\n',
    )
    .action(failing);
}

type Options = { since: number; account?: string; limit: number };

async function failing({ since, account, limit }: Options): Promise<void> {
  const asked = {
    sinceMs: Date.now() - since,
    account: account === undefined ? undefined : readGuid(account, '--account'),
    limit,
  };
  await withDatabase(process.env, async (postgres) => {
    tell(
      `failing most in the last ${formatDuration(since)}`,
      (await failingOrigins(postgres, asked)).map(describeOrigin),
    );
    tell('parked, those that wait longest first', (await parkedEndpoints(postgres, asked)).map(describeEndpoint));
    tell('oldest without an end', (await oldestUndelivered(postgres, asked)).map(describeUndelivered));
  });
}

function tell(heading: string, lines: string[]): void {
  print(`${heading}:`, ...(lines.length === 0 ? ['none'] : lines).map((line) => `  ${line}`));
}

function describeOrigin({ account, origin, failed, attempts, reason }: FailingOrigin): string {
  return `account ${account}  ${origin}  ${failed} of ${attempts} attempts failed, mostly ${reason}`;
}

function describeUndelivered({ delivery, account, action, at, attempts }: Undelivered): string {
  return `${new Date(at).toISOString()}  delivery ${delivery}  ${action}  account ${account}  ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} so far`;
}
