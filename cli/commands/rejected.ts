import { Command } from 'commander';
import type { Rejected } from '@waybell/line/broker/rejected-queue';
import { RejectedQueue } from '@waybell/line/broker/rejected-queue';
import { brokerOf } from '@waybell/stack/address-of';
import { openLine } from '../open-line.ts';
import { describeShortly, describeWholly, factsOf } from '../rejected/describe-rejected.ts';
import { retryRejected } from '../rejected/retry-rejected.ts';
import { isCalled, isSelected, readSelection, type Selection } from '../rejected/selection.ts';
import { report } from '../report.ts';
import { print } from '../print.ts';

const WHERE = '\nAMQP_URL names the broker; without it, the running stack is meant.';

export function rejectedCommand(): Command {
  const command = new Command('rejected').description('see what the line refused, and put it back or delete it');
  command
    .command('list')
    .description('list what lies there, oldest first: id, time, reason, origin, message id, size')
    .option('--reason <reason>', 'only those of this reason')
    .option('--json', 'one JSON object a line')
    .addHelpText('after', `${WHERE}\n\nExample:\n  ./waybell rejected list --reason payload_invalid\n`)
    .action(list);
  command
    .command('show')
    .description('show one, with its body')
    .argument('<which>', 'its id or its message id, as "list" prints them')
    .option('--raw', 'write the original bytes, exactly, and nothing else')
    .addHelpText('after', `${WHERE}\n\nExample:\n  ./waybell rejected show 0a4b9f7167 --raw > event.json\n`)
    .action(show);
  choosing(command.command('retry'))
    .description('put messages back by the door through which they came, and remove each once the broker has it')
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
    .argument('[ids...]', 'ids or message ids, as "list" prints them')
    .option('--reason <reason>', 'all of this reason')
    .option('--all', 'all that lie there');
}

async function list({ reason, json }: { reason?: string; json?: true }): Promise<void> {
  await using queue = await RejectedQueue.open(brokerOf(process.env));
  const found: { key: string; lines: string[] }[] = [];
  for await (const rejected of queue.messages()) {
    if (reason !== undefined && rejected.reason !== reason) continue;
    const lines = json ? [JSON.stringify(factsOf(rejected))] : describeShortly(rejected);
    found.push({ key: `${rejected.rejectedAt} ${rejected.id}`, lines });
  }
  found.sort((one, other) => one.key.localeCompare(other.key));
  for (const { lines } of found) print(...lines);
  if (found.length === 0) report(reason === undefined ? 'nothing is rejected' : `nothing is rejected for ${reason}`);
}

async function show(which: string, { raw }: { raw?: true }): Promise<void> {
  await using queue = await RejectedQueue.open(brokerOf(process.env));
  let found: Rejected | undefined;
  for await (const rejected of queue.messages()) {
    if (!isCalled(rejected, which)) continue;
    found = rejected;
    break;
  }
  if (found === undefined) throw new Error(`there is no rejected message ${which}: see "./waybell rejected list"`);
  await write(raw ? found.body : `${describeWholly(found)}\n`);
}

type Choice = { reason?: string; all?: true };

async function retry(ids: string[], choice: Choice): Promise<void> {
  const selection = readSelection(ids, choice);
  const queue = await RejectedQueue.open(brokerOf(process.env));
  await using stack = new AsyncDisposableStack();
  stack.use(queue);
  const line = stack.use(await openLine(process.env));
  let kept = 0;
  const found = await each(queue, selection, async (rejected) => {
    const result = await retryRejected(line, rejected).catch((error: unknown) => stoppedAt(rejected, error));
    if (result.kind === 'stays') {
      kept += 1;
      report(`${rejected.id} stays: ${result.why}`);
      return;
    }
    queue.remove(rejected);
    print(`${rejected.id} retried: ${result.to}`);
  });
  report(`retried ${found - kept} of ${found}; what is still wrong comes back to the list`);
  if (kept > 0) process.exitCode = 1;
}

async function purge(ids: string[], { yes, ...choice }: Choice & { yes?: true }): Promise<void> {
  const selection = readSelection(ids, choice);
  await using queue = await RejectedQueue.open(brokerOf(process.env));
  const found = await each(queue, selection, (rejected) => {
    if (yes) queue.remove(rejected);
    print(...(yes ? [`${rejected.id} deleted`] : describeShortly(rejected)));
  });
  if (yes) report(`deleted ${found}`);
  else if (found > 0) throw new Error('nothing was deleted: add --yes to delete what is listed, for good');
}

/** Does something to each selected message; resolves with how many there were. Throws for ids that are not there. */
async function each(
  queue: RejectedQueue,
  selection: Selection,
  work: (rejected: Rejected) => void | Promise<void>,
): Promise<number> {
  let found = 0;
  const missing = new Set(selection.kind === 'ids' ? selection.ids : []);
  for await (const rejected of queue.messages()) {
    if (!isSelected(selection, rejected)) continue;
    found += 1;
    for (const id of missing) if (isCalled(rejected, id)) missing.delete(id);
    await work(rejected);
  }
  if (missing.size > 0) throw new Error(`not there: ${[...missing].join(', ')}; see "./waybell rejected list"`);
  if (found === 0) report('nothing is rejected that this means: see "./waybell rejected list"');
  return found;
}

function stoppedAt({ id }: Rejected, error: unknown): never {
  const why = error instanceof Error ? error.message : String(error);
  throw new Error(`${why}. ${id} stays and may be on the line as well; those before it are done. Retry again later.`, {
    cause: error,
  });
}

async function write(what: Buffer | string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(what, (error) => (error ? reject(error) : resolve()));
  });
}
