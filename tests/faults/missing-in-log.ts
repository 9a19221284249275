import { isAttempted, type Attempted } from '@waybell/line/outcomes';
import type { Ledger } from '../testing/ledger.ts';
import { until } from '@waybell/runtime/testing/until';
import type { TestStack } from '../testing/test-stack.ts';

const MOST_NAMED = 3;

type Row = Pick<Attempted, 'delivery' | 'attempt' | 'kind' | 'at'>;
type Counted = { recorded: Set<string>; written: Map<string, number> };

/**
 * What the delivery log does not tell as the records do: each attempt and each end is to be in it, and once. It may be
 * writing yet when the queues are empty, so it gets some time.
 */
export async function missingInLog(stack: TestStack, ledger: Ledger): Promise<string[]> {
  let amiss = await notAsRecorded(stack, ledger);
  const told = until('the log tells what the records do', async () => {
    if (amiss.length > 0) amiss = await notAsRecorded(stack, ledger);
    return amiss.length === 0;
  });
  await told.catch(() => undefined);
  return amiss;
}

async function notAsRecorded({ postgres }: TestStack, ledger: Ledger): Promise<string[]> {
  const recorded = ledger.recorded();
  const { rows } = await postgres.query<Row>(
    `select delivery, attempt, kind, round(extract(epoch from at) * 1000)::float8 as at from delivery_log.attempts
     where at >= to_timestamp($1::float8 / 1000)`,
    // Not Math.min(...): a long run has more records than a call takes arguments.
    [recorded.reduce((earliest, { at }) => Math.min(earliest, at), Infinity)],
  );
  const written = new Map<string, number>();
  for (const row of rows) written.set(keyOf(row), (written.get(keyOf(row)) ?? 0) + 1);
  const verdicts = new Set(await eventsIn(postgres));
  const events = recorded.filter((outcome) => !isAttempted(outcome)).map(({ event }) => event);
  return [
    ...attemptsAmiss({ recorded: new Set(recorded.filter(isAttempted).map(keyOf)), written }),
    ...named('events are not in the log', new Set(events.filter((event) => !verdicts.has(event)))),
  ];
}

async function eventsIn(postgres: TestStack['postgres']): Promise<string[]> {
  const { rows } = await postgres.query<{ event: string }>('select distinct event from delivery_log.events');
  return rows.map(({ event }) => event);
}

function attemptsAmiss({ recorded, written }: Counted): string[] {
  return [
    ...named('attempts are not in the log', new Set([...recorded].filter((key) => !written.has(key)))),
    ...named(
      'attempts are in the log more than once',
      new Set([...written].flatMap(([key, count]) => (count > 1 ? [key] : []))),
    ),
  ];
}

function named(what: string, which: ReadonlySet<string>): string[] {
  return which.size === 0 ? [] : [`${which.size} ${what}: ${[...which].slice(0, MOST_NAMED).join(', ')} …`];
}

const keyOf = ({ delivery, attempt, kind, at }: Row): string => `${delivery} ${attempt} ${kind} ${at}`;
