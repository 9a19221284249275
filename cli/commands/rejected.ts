import { isUtf8 } from 'node:buffer';
import { Command } from 'commander';
import { RejectedQueue, type RejectedMessage } from '@waybell/line/operating/rejected-queue';
import {
  listRejected,
  purgeRejected,
  retryRejected,
  showRejected,
  factsOf,
  type RejectedFilter,
  type RejectedFacts,
} from '@waybell/rejected/rejected-messages';
import { readSelection, plainOf, type Selection, type SelectionOptions } from '@waybell/rejected/selection';
import { brokerOf } from '@waybell/stack/address-of';
import { openLine } from '../open-line.ts';
import { report, print, oneLine, plainText } from '../print.ts';

const WHERE = '\nAMQP_URL names the broker; without it, the running stack is meant.';

export function rejectedCommand(): Command {
  const command = new Command('rejected').description('see what the line refused, and put it back or delete it');
  command
    .command('list')
    .description('list what lies there, oldest first: id, time, reason, origin, message id, size')
    .option('--reason <reason>', 'only those of this reason')
    .option(
      '--about <key>',
      'only those that name it: an order, a vehicle, the guid of an event, any key in their text',
    )
    .option('--json', 'one JSON object a line')
    .addHelpText('after', `${WHERE}\n\nExample:\n  ./waybell rejected list --reason payload_invalid\n`)
    .action(list);
  command
    .command('show')
    .description('show one, with its body')
    .argument(
      '<which>',
      'its id or its message id, as "list" prints them, the guid of the event, or any key that only this one names',
    )
    .option('--raw', 'write the original bytes, exactly, and nothing else')
    .addHelpText('after', `${WHERE}\n\nExample:\n  ./waybell rejected show 0a4b9f7167 --raw > event.json\n`)
    .action(show);
  choosing(command.command('retry'))
    .description('put messages back where they came from, and remove each once the broker has it')
    .addHelpText('after', `${WHERE}\n\nExample:\n  ./waybell rejected retry --reason handler_failed\n`)
    .action(retry);
  choosing(command.command('purge'))
    .description('delete messages for good')
    .option('--yes', 'really delete them; without it they are only listed')
    .addHelpText('after', `${WHERE}\n\nExample:\n  ./waybell rejected purge --reason unknown_action --yes\n`)
    .action(purge);
  return command.addHelpText('after', '\nExample:\n  ./waybell rejected list\n');
}

function choosing(command: Command): Command {
  return command
    .argument('[ids...]', 'ids or message ids, as "list" prints them, or guids of events')
    .option('--reason <reason>', 'all of this reason')
    .option('--about <key>', 'all that name it anywhere')
    .option('--all', 'all that lie there');
}

async function list({ json, ...filter }: RejectedFilter & { json?: true }): Promise<void> {
  await using queue = await RejectedQueue.open(brokerOf(process.env));
  const found = await listRejected(queue, filter);
  for (const facts of found) print(...(json ? [JSON.stringify(factsInJson(facts))] : describeShortly(facts)));
  if (found.length > 0) return;
  const { reason, about } = filter;
  const which = [reason === undefined ? '' : ` for ${reason}`, about === undefined ? '' : ` about ${about}`].join('');
  report(`nothing is rejected${which}`);
}

async function show(which: string, { raw }: { raw?: true }): Promise<void> {
  await using queue = await RejectedQueue.open(brokerOf(process.env));
  const found = await showRejected(queue, which);
  await write(raw ? found.body : `${describeWholly(found)}\n`);
}

/** Throws unless exactly one way of selecting is given. */
function selectedBy(options: SelectionOptions): Selection {
  const selection = readSelection(options);
  if (selection !== undefined) return selection;
  throw new Error('say which: ids of "./waybell rejected list", or --reason <reason>, or --about <key>, or --all');
}

async function retry(ids: string[], choice: SelectionOptions): Promise<void> {
  const selection = selectedBy({ ids, ...choice });
  const queue = await RejectedQueue.open(brokerOf(process.env));
  await using stack = new AsyncDisposableStack();
  stack.use(queue);
  const line = stack.use(await openLine(process.env));
  let [found, kept] = [0, 0];
  for await (const result of retryRejected(queue, line, selection)) {
    found += 1;
    if (result.kind === 'retried') {
      print(`${result.id} retried: ${result.to}`);
    } else {
      kept += 1;
      report(`${result.id} stays: ${result.why}`);
    }
  }
  reportNone(found);
  report(`retried ${found - kept} of ${found}; what is still wrong comes back to the list`);
  if (kept > 0) process.exitCode = 1;
}

async function purge(ids: string[], { yes, ...choice }: SelectionOptions & { yes?: true }): Promise<void> {
  const selection = selectedBy({ ids, ...choice });
  await using queue = await RejectedQueue.open(brokerOf(process.env));
  let found = 0;
  for await (const facts of purgeRejected(queue, selection, { isTrial: yes === undefined })) {
    found += 1;
    print(...(yes ? [`${facts.id} deleted`] : describeShortly(facts)));
  }
  reportNone(found);
  if (yes) report(`deleted ${found}`);
  else if (found > 0) throw new Error('nothing was deleted: add --yes to delete what is listed, for good');
}

function reportNone(found: number): void {
  if (found === 0) report('nothing is rejected that this means: see "./waybell rejected list"');
}

async function write(what: Buffer | string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(what, (error) => (error ? reject(error) : resolve()));
  });
}

/** Two lines: id, time, reason, origin, message id and size; and what exactly is wrong. */
export function describeShortly(rejected: RejectedFacts): string[] {
  const { id, rejectedAt, reason, messageId, size, detail } = rejected;
  const columns = [id, rejectedAt.padEnd(24), reason, originOf(rejected), messageId ?? 'no message id', `${size} B`];
  return [columns.join('  '), ...(detail === '' ? [] : [`      ${detail}`])];
}

/** The facts as JSON, with AMQP's names where it has some. */
function factsInJson({ note, ...facts }: RejectedFacts): Record<string, string | number> {
  return { ...facts, ...(note !== undefined && { correlationId: note }) };
}

/** Everything. A body that is not text is left to --raw. */
export function describeWholly(rejected: RejectedMessage): string {
  const facts = Object.entries(factsInJson(factsOf(rejected))).map(([name, value]) =>
    oneLine(`${name.padEnd(16)}${value}`),
  );
  const { body, contentEncoding } = rejected;
  const plain = plainOf(body);
  const isText = isUtf8(plain) && contentEncoding !== 'gzip';
  const shown = isText ? plain.toString() : 'the body is not text: --raw writes its bytes';
  return [...facts, '', plainText(shown)].join('\n');
}

function originOf({ queue, exchange, routingKey }: RejectedFacts): string {
  // The default exchange has no name, and leads to the queue that the key names.
  const nameless = queue !== '' && queue === routingKey ? 'default exchange' : 'unknown exchange';
  return `${queue || 'unknown queue'} ← ${exchange || nameless} "${routingKey}"`;
}
