import { isKept, oldestKept, placeAt, writePlace } from '@waybell/delivery-log/read/commits';
import { endedDeliveries, type EndedDelivery, type EndedPage } from '@waybell/delivery-log/read/ended-deliveries';
import type { EndsQuery } from '@waybell/delivery-log/read/ends';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import type { Queryable } from '@waybell/runtime/postgres';
import type { Response } from 'express';
import { Problem } from '../http/problem.ts';
import type { RouteOptions } from '../http/routes.ts';
import { deliveryView, moment } from './history-view.ts';
import type { PullRequest } from './pull-request.ts';

type Pulling = Pick<RouteOptions, 'database' | 'awaiting'> & { reader: ClientReader; pull: PullRequest };

/**
 * Reads a client's ended deliveries on, in the order of the log, and waits for some where there are none and it is asked to. Throws a
 * Problem (410) where some may have been dropped.
 */
export async function pullPage(
  { database, awaiting, reader: caller, pull }: Pulling,
  response: Response,
): Promise<object> {
  const { account, client, interface: interfaceName } = caller;
  const reader = { account, client, interface: interfaceName };
  const { after, waitMs, ...query } = pull;
  const ask = async (from: PullRequest['after']) => {
    const found = await database.askLog((postgres) => pageAfter(postgres, from, { reader, ...query }));
    if ('entries' in found) return found;
    throw noLongerKept(found.oldest);
  };
  let page = await ask(after);
  if (waitMs === 0 || !isNothing(page)) return view(page);
  const awaited = awaiting.begin(reader, response, waitMs);
  while (isNothing(page) && (await awaited.after(page.next.number))) page = await ask(page.next);
  return view(page);
}

const isNothing = ({ entries, more }: EndedPage): boolean => entries.length === 0 && !more;

/** `oldest`: since when something is kept, where not everything is that follows. */
async function pageAfter(
  postgres: Queryable,
  from: PullRequest['after'],
  query: Omit<EndsQuery, 'after'> & { withBodies: boolean },
): Promise<EndedPage | { oldest: number | undefined }> {
  const after = typeof from === 'number' ? await placeAt(postgres, from) : from;
  if (await isKept(postgres, after)) return endedDeliveries(postgres, { ...query, after });
  return { oldest: await oldestKept(postgres) };
}

function noLongerKept(oldest: number | undefined): Problem {
  const since = oldest === undefined ? 'There is nothing' : `There is something from ${moment(oldest)} on`;
  const detail = `Some of what follows this "after" is no longer kept, or the log was restored from a backup. ${since}: go on with "after=oldest", or with a time.`;
  return new Problem('no-longer-kept', detail);
}

function view({ entries, next, more }: EndedPage) {
  return { objects: entries.map(endedView), next: writePlace(next), more };
}

function endedView({ endedAt, body, ...entry }: EndedDelivery) {
  const sent = body === undefined ? {} : { body, body_state: body === null ? 'no_longer_kept' : 'kept' };
  return { ...deliveryView(entry), ended_at: moment(endedAt), ...sent };
}
