import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { Command } from 'commander';
import { toUtf8 } from '@waybell/events/read-event';
import type { CommandPublisher } from '@waybell/line/operating/operator-line';
import { readEnvironment } from '@waybell/runtime/environment';
import { openLine } from '../open-line.ts';
import { report, print } from '../print.ts';
import type { PublishableEvent, Unknown } from '../publish/check-events.ts';
import { splitEvents } from '../publish/split-events.ts';

/** Warnings of members that are not known: a file may have any number of them. */
const MOST_WARNINGS = 20;
const AT_ONCE = 100;

/** The result of publishing: lines that the broker confirmed, lines it may or may not have, and lines that were never sent. */
type PublishReport = { confirmed: number[]; unknown: number[]; unsent: number[]; failure?: Error };

export function publishCommand(): Command {
  return new Command('publish')
    .description('publish events, and wait until the broker has confirmed each')
    .option('-f, --file <path>', 'where they stand; - is standard input', '-')
    .addHelpText(
      'after',
      [
        '',
        'Events are JSON objects: one a line, written over several lines, or the items of an array. They go out as they are',
        'written, digit for digit. A message names the line on which its event begins.',
        'Every event is checked first, as the event-router would check it: unless all are good, none is published. Members that',
        'the contract does not know are published, with a warning: notifications leave them out. Publishing the same file',
        'again is safe: events are recognised by guid and body for 24 hours. The routing key is taken from the',
        'event. AMQP_URL names the broker; without it, the running stack is meant.',
        '',
        'Example:',
        '  ./waybell publish --file events.jsonl',
      ].join('\n'),
    )
    .action(publish);
}

async function publish({ file }: { file: string }): Promise<void> {
  const halt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => halt.abort());
  const events = await readChecked(file, halt.signal);
  await using line = await openLine(process.env);
  const published = await publishEvents(line, events, halt.signal);
  if (published.confirmed.length < events.length) throw new Error(explain(published));
  print(`published ${published.confirmed.length} event${published.confirmed.length === 1 ? '' : 's'}`);
}

/** The events of the file. Throws, with a message for each that is wrong said before, unless all are events. */
async function readChecked(file: string, signal: AbortSignal): Promise<PublishableEvent[]> {
  // Only this command needs the schemas of all events.
  const [{ checkEvents }, { routerSettings }] = await Promise.all([
    import('../publish/check-events.ts'),
    import('@waybell/event-router/config'),
  ]);
  const { EVENT_MAX_SIZE, EVENT_MAX_DEPTH } = routerSettings;
  const limits = readEnvironment({ EVENT_MAX_SIZE, EVENT_MAX_DEPTH });
  const written = toUtf8(await readAll(file, signal));
  if (written.kind === 'invalid') throw new Error(`${fileNameOf(file)}: ${written.detail}`);
  const { events, misplaced } = splitEvents(written.bytes);
  if (events.length + misplaced.length === 0) throw new Error(`there is no event in ${fileNameOf(file)}`);
  const checked = checkEvents(events, { maxBytes: limits.EVENT_MAX_SIZE, maxDepth: limits.EVENT_MAX_DEPTH });
  const faults = [...checked.faults, ...misplaced.map((where) => ({ ...where, reason: 'not_json' }))];
  for (const { line, reason, detail } of faults.toSorted((one, other) => one.line - other.line))
    report(`line ${line}: ${reason}: ${detail}`);
  warn(checked.unknown);
  if (faults.length === 0) return checked.events;
  const all = events.length + misplaced.length;
  throw new Error(
    `nothing was published: ${faults.length} of ${all} in ${fileNameOf(file)} ${faults.length === 1 ? 'is not an event' : 'are no events'}; ` +
      'fix or remove them, then publish again',
  );
}

/** Upstream may think that clients get it. */
function warn(unknown: readonly Unknown[]): void {
  for (const { action, place, lines } of unknown.slice(0, MOST_WARNINGS)) {
    const where = `line${lines.length === 1 ? '' : 's'} ${lineRanges(lines)}`;
    report(`warning: ${where}: ${place}: is not known to ${action}: no notification has it`);
  }
  const more = unknown.length - MOST_WARNINGS;
  if (more > 0) report(`warning: ${more} more members are not known to their actions: no notification has them`);
}

async function readAll(file: string, signal: AbortSignal): Promise<Buffer> {
  if (file !== '-') return readFileSync(file);
  if (process.stdin.isTTY) report('reading events from the terminal; end with Ctrl-D, or see --help');
  signal.addEventListener('abort', () => process.stdin.destroy(new Error('interrupted: nothing was published')));
  return buffer(process.stdin);
}

function fileNameOf(file: string): string {
  return file === '-' ? 'standard input' : file;
}

function explain({ confirmed, unknown, unsent, failure }: PublishReport): string {
  const lines = (numbers: number[]) => (numbers.length === 0 ? 'none' : lineRanges(numbers));
  return [
    failure === undefined ? 'interrupted' : `the broker did not take everything: ${failure.message}`,
    `  confirmed, lines: ${lines(confirmed)}`,
    `  not confirmed, perhaps published, lines: ${lines(unknown)}`,
    `  not sent, lines: ${lines(unsent)}`,
    'Publish the same file again once the broker is well and its queue of events has room: what it has already is recognised by guid and body.',
  ].join('\n');
}

/** Publishes in the order of the lines, many at once. After a failure, or the signal, nothing more is sent. */
async function publishEvents(
  line: Pick<CommandPublisher, 'publish'>,
  events: readonly PublishableEvent[],
  signal: AbortSignal,
): Promise<PublishReport> {
  const published: PublishReport = { confirmed: [], unknown: [], unsent: [] };
  const waiting = events.values();
  const publishSome = async () => {
    for (const { line: number, publication } of waiting) {
      if (signal.aborted || published.failure !== undefined) {
        published.unsent.push(number);
        continue;
      }
      try {
        // Unroutable it cannot be: what no queue takes, the alternate exchange does.
        await line.publish(publication);
        published.confirmed.push(number);
      } catch (error) {
        published.unknown.push(number);
        published.failure ??= error instanceof Error ? error : new Error(String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, publishSome));
  for (const numbers of [published.confirmed, published.unknown, published.unsent]) numbers.sort((a, b) => a - b);
  return published;
}

/** Formats line numbers for people: `1-3, 7`. Expects them in ascending order; lists repeated ones once. */
export function lineRanges(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && number - last[1] <= 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
