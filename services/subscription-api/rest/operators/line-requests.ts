import { purgeRequest, rejectedParameters, retryRequest } from '@waybell/contracts/openapi/admin-line-paths';
import type { Selection } from '@waybell/rejected/selection';
import { bodyReader, invalidBody } from '../http/body.ts';
import { queryReader } from '../http/read-query.ts';

type RejectedChoice = { ids?: string[]; reason?: string; about?: string; all?: true };

// Each throws a Problem (422) that names everything wrong with what it reads.

/** Reads the filters of rejected messages. */
export const readRejectedQuery = queryReader<{ reason?: string; about?: string; limit: number }>(rejectedParameters);

/** The body of a request to put rejected messages back. */
export const readRetry = (body: unknown): Selection => selectionOf(readChoice(body));

/** The body of a request to delete rejected messages. */
export function readPurge(body: unknown): { selection: Selection; isConfirmed: boolean } {
  const { confirm: isConfirmed, ...choice } = readConfirmed(body);
  return { selection: selectionOf(choice), isConfirmed };
}

const readChoice = bodyReader<RejectedChoice>(retryRequest);
const readConfirmed = bodyReader<RejectedChoice & { confirm: boolean }>(purgeRequest);

/** Requires an explicit choice: messages must not be changed by oversight. */
function selectionOf({ ids, reason, about, all }: RejectedChoice): Selection {
  const ways: Selection[] = [];
  if (ids !== undefined) ways.push({ kind: 'ids', ids });
  if (reason !== undefined) ways.push({ kind: 'reason', reason });
  if (about !== undefined) ways.push({ kind: 'about', key: about });
  if (all) ways.push({ kind: 'all' });
  const [way] = ways;
  if (way === undefined || ways.length > 1)
    throw invalidBody([{ pointer: '#', detail: 'must have exactly one of ids, reason, about and all' }]);
  return way;
}
