import { isAttempted, type Attempted } from '@waybell/line/outcomes';
import type { Ledger } from '../testing/ledger.ts';
import { until } from '@waybell/runtime/testing/until';
import type { TestStack } from '../testing/test-stack.ts';

const MOST_NAMED = 3;

type Row = Pick<Attempted, 'delivery' | 'attempt' | 'kind' | 'at'>;

/**
 * Compares the delivery log with the records: each attempt and each end must be in it, once. The log may still be writing when
 * the queues are empty, so it gets some time. Records from before `since`, in milliseconds of the wall clock, may be missing.
 */
export async function missingInLog(stack: TestStack, ledger: Ledger, since = 0): Promise<string[]> {
  let amiss: string[] = [];
  const told = until('the log tells what the records do', async () => {
    amiss = await notAsRecorded(stack, ledger, since);
    return amiss.length === 0;
  });
  await told.catch(() => undefined);
  return amiss;
}

async function notAsRecorded({ postgres }: TestStack, ledger: Ledger, since: number): Promise<string[]> {
  const recorded = ledger.recorded().filter(({ at }) => at >= since);
  const { rows } = await postgres.query<Row>(
    `select delivery, attempt, kind, round(extract(epoch from at) * 1000)::float8 as at from delivery_log.attempts
     where at >= to_timestamp($1::float8 / 1000)`,
    // Not Math.min(...): a long run has more records than a call takes arguments.
    [recorded.reduce((earliest, { at }) => Math.min(earliest, at), Infinity)],
  );
  const { rows: others } = await postgres.query<{ key: string }>(
    'select event::text as key from delivery_log.events union all select subscription::text from delivery_log.deactivations',
  );
  const known = new Set([...rows.map(keyOf), ...others.map(({ key }) => key)]);
  const keys = recorded.map((outcome) => {
    if (outcome.kind === 'deactivated') return outcome.subscription;
    return isAttempted(outcome) ? keyOf(outcome) : outcome.event;
  });
  const twice = [...Map.groupBy(rows.map(keyOf), (key) => key).values()].filter(({ length }) => length > 1);
  return [
    ...named(
      'records are not in the log',
      [...new Set(keys)].filter((key) => !known.has(key)),
    ),
    ...named(
      'attempts are in the log more than once',
      twice.map(([key = '']) => key),
    ),
  ];
}

function named(what: string, which: readonly string[]): string[] {
  return which.length === 0 ? [] : [`${which.length} ${what}: ${which.slice(0, MOST_NAMED).join(', ')} …`];
}

const keyOf = ({ delivery, attempt, kind, at }: Row): string => `${delivery} ${attempt} ${kind} ${at}`;
