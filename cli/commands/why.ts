import { Command } from 'commander';
import type { AccountEntry } from '@waybell/delivery-log/read/accounts';
import { MOST_COUNTED, type SearchMatch, type FoundKey } from '@waybell/delivery-log/read/find-anything';
import type { SubscriptionEntry, Switch } from '@waybell/delivery-log/read/subscriptions';
import { why, type WhyAnswer, type Question } from '@waybell/subscription-api/why';
import { accountCalled, type NameOfAccount } from '../accounts.ts';
import { ruleInWords } from '../in-words.ts';
import { positive, LISTENERS_OPTION } from '../options.ts';
import { print, report } from '../print.ts';
import { describeDelivery, describeEvent, timeOf } from '../why/describe-history.ts';
import { withDatabase } from '../with-database.ts';

const PAGE = 100;

type Options = {
  subject?: string;
  event?: string;
  delivery?: string;
  subscription?: string;
  account?: string;
  kind?: string;
  listeners?: true;
  limit: number;
  json?: true;
};

export function whyCommand(): Command {
  return new Command('why')
    .description(
      'tell why a callback did, or did not, arrive: by an order number, a VIN, a guid of anything, a name, a URL',
    )
    .argument(
      '[anything]',
      "the guid, number or VIN of what events are about; the guid of an event, a delivery …, or its first eight digits; an account's name; a host or URL",
    )
    .option('--subject <key>', 'what events are about: an order, a vehicle, an offer …')
    .option('--event <guid>', 'an event')
    .option('--delivery <guid>', 'a delivery: the webhook-id that a receiver saw')
    .option('--subscription <guid>', 'a subscription')
    .option('--account <guid>', 'an account')
    .option('--kind <kind>', 'which kind of key it is, such as order_id, where several have the same')
    .option(...LISTENERS_OPTION)
    .option('--limit <count>', 'events, or deliveries, at most', positive, 100)
    .option('--json', 'one JSON object a line')
    .addHelpText(
      'after',
      '\nWithout an option it is found out what is meant; what may mean several things is listed.' +
        '\nDATABASE_URL names the database; without it, the running stack is meant. Times are UTC.' +
        '\n\nExamples:\n  ./waybell why 4711\n  ./waybell why 5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11\n  ./waybell why acme\n  ./waybell why receiver.example.com\n',
    )
    .action(answerWhy);
}

async function answerWhy(anything: string | undefined, options: Options): Promise<void> {
  const question = readQuestion(anything, options);
  const found = await withDatabase(process.env, async (postgres) => {
    let shown = 0;
    let answer = await why(postgres, { ...question, limit: Math.min(PAGE, question.limit) });
    printAnswer(answer, question.text, options.json === true);
    while (answer.kind === 'events' && answer.page.next !== undefined) {
      shown += answer.page.entries.length;
      if (shown >= question.limit) {
        report(`there are earlier events: --limit ${question.limit * 10} shows more`);
        break;
      }
      const limit = Math.min(PAGE, question.limit - shown);
      answer = await why(postgres, { ...question, limit, before: answer.page.next });
      printAnswer(answer, question.text, options.json === true);
    }
    return answer.kind;
  });
  if (found === 'nothing') throw new Error(unknown(question));
  if (found === 'several') process.exitCode = 1;
}

/** Returns the kind that an option names; otherwise the question is open. */
function readQuestion(anything: string | undefined, options: Options): Question {
  const { subject, event, delivery, subscription, account, kind: keyKind, listeners, limit } = options;
  const named: [SearchMatch['kind'], string | undefined][] = [
    ['key', subject],
    ['event', event],
    ['delivery', delivery],
    ['subscription', subscription],
    ['account', account],
  ];
  const given = named.filter(([, text]) => text !== undefined);
  const [[as, text] = [undefined, anything]] = given;
  if (text === undefined || given.length + (anything === undefined ? 0 : 1) !== 1)
    throw new Error('say what about, once: ./waybell why 4711');
  return { text, as, keyKind, withListeners: listeners, limit };
}

function printAnswer(answer: WhyAnswer, text: string, isJson: boolean): void {
  if (isJson) {
    for (const each of itemsOf(answer)) print(JSON.stringify(each));
    return;
  }
  const nameOf = (account: string) => answer.accounts.get(account)?.name ?? undefined;
  switch (answer.kind) {
    case 'nothing':
      return;
    case 'several':
      report(`"${text}" may mean several things; say which:`);
      return print(...answer.candidates.map((found) => describeCandidate(found, text)));
    case 'events':
      return answer.page.entries.forEach((entry) => print(...describeEvent(entry, nameOf), ''));
    case 'delivery':
      return print(...describeDelivery(answer.delivery, nameOf), '');
    case 'subscription':
      print(...describeSubscription(answer.subscription, nameOf), '');
      return answer.latest.forEach((delivery) => print(...describeDelivery(delivery, nameOf), ''));
    case 'account':
      print(...describeAccount(answer.account, answer.subscriptions), '');
      return answer.latest.forEach((delivery) => print(...describeDelivery(delivery, nameOf), ''));
  }
}

function itemsOf(answer: WhyAnswer): object[] {
  switch (answer.kind) {
    case 'nothing':
      return [];
    case 'several':
      return answer.candidates;
    case 'events':
      return answer.page.entries;
    case 'delivery':
      return [answer.delivery];
    case 'subscription':
      return [answer.subscription, ...answer.latest];
    case 'account':
      return [answer.account, ...answer.subscriptions, ...answer.latest];
  }
}

function unknown({ text, as }: Question): string {
  if (as === 'account') return `there is no account ${text}: correct the guid, or create it first`;
  return (
    `nothing is known of "${text}": no event that names it has come, nor is it an event, a delivery, a subscription or an account, ` +
    'or it is longer ago than LOG_RETENTION. What could hardly be read is found by "./waybell rejected list --about <key>"'
  );
}

/** One of several things that a text may mean, and the command that asks for it. */
export function describeCandidate(found: SearchMatch, text: string): string {
  if (found.kind === 'key') {
    const word = /^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
    const count = found.events === MOST_COUNTED ? `${MOST_COUNTED} events or more` : `${found.events} events`;
    return `${found.keyKind}: ${count}, the last at ${timeOf(found.at)}  ./waybell why --subject ${word} --kind ${found.keyKind}`;
  }
  return `${found.kind}: ${whatOf(found)}  ./waybell why --${found.kind} ${guidOf(found)}`;
}

type FoundByGuid = Exclude<SearchMatch, FoundKey>;

function whatOf(found: FoundByGuid): string {
  if (found.kind === 'account') return found.name ?? found.interface;
  const at = found.kind === 'subscription' ? `, to ${found.url},` : '';
  return `${found.interface} ${found.action}${at} of ${timeOf(found.at)}`;
}

function guidOf(found: FoundByGuid): string {
  switch (found.kind) {
    case 'account':
      return found.account;
    case 'event':
      return found.event;
    case 'delivery':
      return found.delivery;
    case 'subscription':
      return found.subscription;
  }
}

/** A subscription and how it stood, as lines for a terminal. */
export function describeSubscription(entry: SubscriptionEntry, nameOf: NameOfAccount): string[] {
  const { subscription, account, client, interface: interfaceName, action, url, createdAt, endedAt, switches } = entry;
  return [
    `subscription ${subscription}: ${interfaceName} ${action}, ${standingOf(entry)}`,
    `  of ${accountCalled(account, nameOf)}, client ${client}, to ${url}`,
    `  ${timeOf(createdAt)}  subscribed`,
    ...switches.map((each) => `  ${timeOf(each.at)}  ${describeSwitch(each)}`),
    ...(endedAt === null ? [] : [`  ${timeOf(endedAt)}  ended`]),
    ...(entry.lastSuccessAt === null ? [] : [`  ${timeOf(entry.lastSuccessAt)}  last success`]),
  ];
}

/** An account and its subscriptions, current ones first, as lines for a terminal. */
export function describeAccount(entry: AccountEntry, subscriptions: readonly SubscriptionEntry[]): string[] {
  const { account, name, interface: interfaceName, features, createdAt, closedAt } = entry;
  const closed = closedAt === null ? '' : `, closed since ${timeOf(closedAt)}`;
  const current = subscriptions.filter(({ endedAt }) => endedAt === null);
  const ended = subscriptions.length - current.length;
  return [
    `${accountCalled(account, () => name ?? undefined)}: ${interfaceName}, features: ${features.join(', ') || 'none'}, since ${timeOf(createdAt)}${closed}`,
    ...current.map(
      (each) =>
        `  ${each.action}, client ${each.client}: ${standingOf(each)}, to ${each.url} (subscription ${each.subscription})`,
    ),
    ...(current.length === 0 ? ['  no subscription'] : []),
    ...(ended === 0 ? [] : [`  ended subscriptions: ${ended}`]),
  ];
}

function standingOf({ endedAt, switches }: SubscriptionEntry): string {
  if (endedAt !== null) return `ended at ${timeOf(endedAt)}`;
  const last = switches.at(-1);
  return last === undefined || last.isOn ? 'on' : `switched off since ${timeOf(last.at)} (${ruleInWords(last.rule)})`;
}

const describeSwitch = (each: Switch): string =>
  each.isOn ? 'switched on' : `switched off (${ruleInWords(each.rule)})`;
