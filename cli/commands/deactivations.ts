import { Command } from 'commander';
import { findAccount } from '@waybell/subscription-api/accounts';
import { IS_HELD_BACK, subscriptionsHeldBack, type HeldBack } from '@waybell/subscription-api/interrupted';
import { accountCalled, namesOf, findAccountCalled, type NameOfAccount } from '../accounts.ts';
import { counted } from '../in-words.ts';
import { positive, readGuid } from '../options.ts';
import { print, report } from '../print.ts';
import { withDatabase } from '../with-database.ts';

const SERVER = '\nDATABASE_URL names the database; without it, the running stack is meant.\n';
const CHOSEN = `${IS_HELD_BACK} and d.subscription in (select s.guid from waybell.subscriptions s
  where ($1::uuid is null or s.account_guid = $1) and ($2::uuid is null or s.guid = $2))`;
const RELEASE = `update waybell.due_deactivations d set is_released = true, due_at = now() where ${CHOSEN}`;
// The next failure starts a new run: with the old one the rule of the window would apply again at once.
const DISCARD = `with gone as (delete from waybell.due_deactivations d where ${CHOSEN} returning d.subscription)
  update waybell.subscriptions s set failing_since = null from gone where s.guid = gone.subscription`;

type Options = { account?: string; subscription?: string; all?: true };

export function deactivationsCommand(): Command {
  return new Command('deactivations')
    .description(
      'see which subscriptions are not switched off as so many would be at once, and say what becomes of them',
    )
    .addCommand(
      new Command('list')
        .description('list the subscriptions that a rule would switch off, and that are held')
        .option('--account <account>', 'of this account alone: its guid, its name, or the beginning of either')
        .option('--limit <count>', 'subscriptions, at most', positive, 100)
        .addHelpText(
          'after',
          `\nFor each: since when, account, URL, action, rule and the delivery that failed.${SERVER}`,
        )
        .action(list),
    )
    .addCommand(
      choosing(new Command('release'))
        .description('switch them off after all: their receivers failed')
        .addHelpText('after', `\nThe deactivator does it within a second.${SERVER}`)
        .action((options: Options) => decide(options, RELEASE, 'to be switched off')),
    )
    .addCommand(
      choosing(new Command('discard'))
        .description('leave them on: the fault was ours')
        .addHelpText('after', `\nThe next delivery that fails counts as ever.${SERVER}`)
        .action((options: Options) => decide(options, DISCARD, 'left on')),
    )
    .addHelpText('after', '\nExample:\n  ./waybell deactivations list\n  ./waybell deactivations discard --all\n');
}

const choosing = (command: Command): Command =>
  command
    .option('--account <guid>', 'all of this account')
    .option('--subscription <guid>', 'this one')
    .option('--all', 'all there are');

async function list({ account, limit }: { account?: string; limit: number }): Promise<void> {
  const held = await withDatabase(process.env, async (postgres) => {
    const only = account === undefined ? undefined : (await findAccountCalled(postgres, account)).guid;
    const found = await subscriptionsHeldBack(postgres, { account: only, limit });
    const nameOf = await namesOf(
      postgres,
      found.map((each) => each.account),
    );
    print(...found.map((each) => describe(each, nameOf)));
    return found;
  });
  if (held.length === 0) report('no subscription is held');
  if (held.length === limit) report(`there may be more: --limit ${limit * 10} shows them`);
}

function describe(held: HeldBack, nameOf: NameOfAccount): string {
  const { heldAt, offFrom, account, subscription, url, action, rule, delivery } = held;
  const cause = delivery === null ? '' : `by delivery ${delivery}`;
  const off = offFrom === null ? '' : `off from ${timeOf(offFrom)} until then: replay what came meanwhile`;
  const who = accountCalled(account, nameOf);
  return [timeOf(heldAt), who, `subscription ${subscription}`, url, action, rule, cause, off]
    .filter(Boolean)
    .join('  ');
}

const timeOf = (at: number): string => new Date(at).toISOString();

async function decide({ account, subscription, all }: Options, statement: string, what: string): Promise<void> {
  const given = [account, subscription, all].filter((each) => each !== undefined);
  if (given.length !== 1) throw new Error('say which: one of --account, --subscription and --all');
  const values = [account && readGuid(account, '--account'), subscription && readGuid(subscription, '--subscription')];
  await withDatabase(process.env, async (postgres) => {
    if (values[0] !== undefined) await findAccount(postgres, values[0]);
    const { rowCount } = await postgres.query(
      statement,
      values.map((each) => each ?? null),
    );
    if (!rowCount) throw new Error('no such subscription is held: "./waybell deactivations list" shows which are');
    report(`${counted(rowCount, 'subscription')} ${what}`);
  });
}
