import { Command, InvalidArgumentError } from 'commander';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { LARGEST_REPLAY, REPLAY_RATE } from '@waybell/delivery-log/read/limits';
import { momentOf, readTimestamp } from '@waybell/events/timestamp';
import { parseDurationMs } from '@waybell/runtime/duration';
import type { Queryable } from '@waybell/runtime/postgres';
import { clientsOf, type AccountSummary } from '@waybell/subscription-api/accounts';
import {
  missedByAction,
  type MissedByAction,
  type MissedOfAction,
} from '@waybell/subscription-api/by-hand/missed-by-action';
import { requester, askForReplay } from '@waybell/subscription-api/by-hand/replays';
import { accountCalled, findAccountCalled } from '../accounts.ts';
import { counted } from '../in-words.ts';
import { positive } from '../options.ts';
import { print, report } from '../print.ts';
import { withDatabase } from '../with-database.ts';

const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d\d-\d\d$/;

type Options = {
  account: string;
  since?: number;
  until?: number;
  client?: string;
  replay?: true;
  perSecond: number;
  yes?: true;
  json?: true;
};
type MissedTime = { sinceMs: number; untilMs: number };
type MissedByClient = MissedByAction & { client: ClientReader };

export function missedCommand(): Command {
  return new Command('missed')
    .description(
      'tell what the clients of an account missed from one time until another, over all actions, and replay it',
    )
    .requiredOption('--account <account>', 'its guid, its name, or the beginning of either')
    .option('--since <time>', 'a day (UTC), a time, or how long ago; a day before the end when left out', momentMs)
    .option('--until <time>', 'the same; now when left out', momentMs)
    .option('--client <id>', 'only this API client')
    .option('--replay', 'send all of it again')
    .option('--per-second <count>', 'replay so many deliveries a second', positive, REPLAY_RATE.default)
    .option('--yes', 'really send it')
    .option('--json', 'one JSON object a line')
    .addHelpText(
      'after',
      '\nFor each client and action: deliveries that were given up (every attempt failed) or dropped (ended without an attempt to their end), and' +
        '\nevents not sent, as no subscription was on. What arrived since, or is on its way, is not missed. A replay sends what is' +
        '\nkept to the subscriptions that are on, and is in the audit log. DATABASE_URL names the database; without it, the running' +
        '\nstack is meant. Times are UTC.' +
        '\n\nExamples:\n  ./waybell missed --account acme --since 2026-11-24 --until 2026-11-25' +
        '\n  ./waybell missed --account acme --since 2026-11-24 --until 2026-11-25 --replay --yes\n',
    )
    .action(missed);
}

/**
 * For an option that is a time, in milliseconds since the epoch: a day (its beginning, UTC), an RFC 3339 timestamp, or an age.
 */
function momentMs(text: string): number {
  const timestamp = DAY.test(text) ? `${text}T00:00:00Z` : text;
  if (readTimestamp(timestamp) !== null) return momentOf(timestamp);
  try {
    return Date.now() - parseDurationMs(text);
  } catch {
    throw new InvalidArgumentError(
      'It is a day such as 2026-11-24, a time such as 2026-11-24T09:30:00Z, or how long ago, such as 24h.',
    );
  }
}

async function missed({ account: called, ...options }: Options): Promise<void> {
  const untilMs = options.until ?? Date.now();
  const range = { sinceMs: options.since ?? untilMs - DAY_MS, untilMs };
  if (range.sinceMs >= untilMs) throw new Error('--since has to be before --until');
  if (options.perSecond > REPLAY_RATE.most) throw new Error(`--per-second is ${REPLAY_RATE.most} at most`);
  await withDatabase(process.env, async (postgres) => {
    const account = await findAccountCalled(postgres, called);
    const found = await missedOf(postgres, account, { ...range, only: options.client });
    printMissed(account, found, { ...range, ...options });
    if (options.replay) await replayAll(postgres, found, { ...range, ...options });
  });
}

async function missedOf(
  postgres: Queryable,
  account: AccountSummary,
  { only, ...range }: MissedTime & { only: string | undefined },
): Promise<MissedByClient[]> {
  const clients = (await clientsOf(postgres, account.guid)).map((each) => each.client_id);
  if (only !== undefined && !clients.includes(only))
    throw new Error(`this account has no client "${only}": it has ${clients.join(', ') || 'none yet'}`);
  const found: MissedByClient[] = [];
  for (const id of only === undefined ? clients : [only]) {
    const client = { account: account.guid, client: id, interface: account.interface };
    found.push({ client, ...(await missedByAction(postgres, { client, ...range })) });
  }
  return found;
}

function printMissed(
  account: AccountSummary,
  found: readonly MissedByClient[],
  { sinceMs, untilMs, json, replay }: MissedTime & Pick<Options, 'json' | 'replay'>,
): void {
  const [since, until] = [timeOf(sinceMs), timeOf(untilMs)];
  const whose = { account_guid: account.guid, account_name: account.name };
  for (const { client, actions, countedUntilMs } of found) {
    for (const each of actions) {
      const { subscription: subscription_guid, isActive: is_active, ...counts } = each;
      const entry = { ...whose, client_id: client.client, since, until, ...counts, subscription_guid, is_active };
      print(json ? JSON.stringify(entry) : describeMissed(client.client, each));
    }
    if (countedUntilMs !== null)
      report(
        `of client ${client.client} the ${LARGEST_REPLAY} oldest are counted: there is more from ${timeOf(countedUntilMs)} on`,
      );
  }
  const name = accountCalled(account.guid, () => account.name ?? undefined);
  const total = sumOf(found);
  if (found.every(({ actions }) => actions.length === 0)) report(`${name} missed nothing from ${since} until ${until}`);
  else report(`${name}, from ${since} until ${until}: ${counted(total, 'delivery', 'deliveries')} can be replayed`);
  if (total > 0 && !replay) report('add --replay --yes to send them again');
}

async function replayAll(
  postgres: Queryable,
  found: readonly MissedByClient[],
  { sinceMs, untilMs, perSecond, yes }: MissedTime & Pick<Options, 'perSecond' | 'yes'>,
): Promise<void> {
  const meant = found.filter((each) => sumOf([each]) > 0);
  if (meant.length === 0) return;
  if (!yes) throw new Error('nothing was sent: add --yes to send it');
  const request = { of: { action: '*' }, sinceMs, untilMs, includesSuppressed: true, perSecond };
  for (const { client } of meant) {
    await postgres.query('begin');
    const answer = await askForReplay(postgres, { ...request, client, by: requester('command line', true) });
    await postgres.query('commit');
    if (answer.kind === 'refused') throw new Error(`client ${client.client}: not replayed (${answer.why})`);
    const { account, client: id } = client;
    const at = `/v1/admin/accounts/${account}/clients/${encodeURIComponent(id)}/replays/${answer.guid}`;
    print(`client ${id}  replay ${answer.guid}  ${perSecond} a second  progress: GET ${at}`);
  }
}

const sumOf = (found: readonly MissedByAction[]): number =>
  found.flatMap(({ actions }) => actions).reduce((sum, each) => sum + replayable(each), 0);

/** How many deliveries a replay sends. */
export const replayable = ({ isActive, exhausted, dropped, suppressed }: MissedOfAction): number =>
  isActive ? exhausted + dropped + suppressed : 0;

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** Describes a client's missed events of an action, as a line for a terminal. */
export function describeMissed(client: string, found: MissedOfAction): string {
  const { action, exhausted, dropped, suppressed, gone, reasons } = found;
  const counts = [
    `${exhausted} given up`,
    `${dropped} dropped`,
    `${suppressed} not sent`,
    ...(gone === 0 ? [] : [`${gone} no longer kept`]),
  ];
  return [
    `client ${client}`,
    action,
    counts.join(', '),
    ...(reasons.length === 0 ? [] : [reasons.map(({ reason, count }) => `${reason} ${count}`).join(', ')]),
    ...stateOf(found),
  ].join('  ');
}

function stateOf({ subscription, isActive }: MissedOfAction): string[] {
  if (isActive) return [];
  return subscription === null
    ? ['not subscribed any more: nothing can be replayed']
    : [`subscription ${subscription} is switched off: switch it on before a replay`];
}
