/** Conditions on deliveries and events, for clients and operators alike. */
import type { TString } from 'typebox';
import { actions } from '@waybell/catalog/actions';
import { nearestNames } from '@waybell/catalog/names';
import type { deliveryFilters } from '../../operations/delivery-schemas.ts';
import type { QueryOf } from '../../operations/operation.ts';
import { keysNamed } from '@waybell/delivery-log/read/find-anything';
import type { DeliveryFilter } from '@waybell/delivery-log/read/find-deliveries';
import { readEndpoint, type EndpointFilter } from '@waybell/delivery-log/read/subscriptions';
import type { JsonObject } from '@waybell/events/json';
import { normalizedKey, keysOf } from '@waybell/events/event';
import { momentOf } from '@waybell/events/timestamp';
import type { Queryable } from '@waybell/runtime/postgres';
import type { Database } from '../../database.ts';
import type { Problem } from '../http/problem.ts';
import { invalidParameters } from '../http/read-query.ts';

/** The parameters that select deliveries, as they are read. */
export type FilterQuery = QueryOf<ReturnType<typeof deliveryFilters<TString>>>;

/** Throws a Problem (422) where `endpoint` names no host. */
export function filterOf(query: FilterQuery): DeliveryFilter {
  const { key, kind, guid, since, until, action, status, reason, subscription, endpoint } = query;
  return {
    action,
    statuses: status,
    reason,
    guid: guid?.toLowerCase(),
    subscription: subscription?.toLowerCase(),
    endpoint: endpoint === undefined ? undefined : endpointOf(endpoint),
    about: key === undefined ? undefined : { key: normalizedKey(key), kind },
    since: since === undefined ? undefined : momentOf(since),
    until: until === undefined ? undefined : momentOf(until),
  };
}

function endpointOf(text: string): EndpointFilter {
  const endpoint = readEndpoint(text);
  if (endpoint !== undefined) return endpoint;
  const detail = 'must be a host, also with its port, an origin or a URL, such as https://receiver.example.com/hooks';
  throw invalidParameters([{ parameter: 'endpoint', detail }]);
}

// An example is JSON.
const inExamples = actions.flatMap(({ example, keys }) => keysOf(example as JsonObject, keys).map(({ kind }) => kind));
const ofMembers = actions.flatMap(({ keys }) => Object.values(keys));

/**
 * The kinds of key that the catalog names. A guid in a payload that the catalog leaves open is a key too, with its member's name
 * as kind, so a key may have a kind that is not listed.
 */
const keyKinds: readonly string[] = [...new Set(['guid', 'subject', ...ofMembers, ...inExamples])].toSorted();

type KeyQuery = { key?: string | undefined; kind?: string | undefined };

/**
 * Asks the delivery log where a kind may be named. Throws a Problem (422) that names the nearest kind, and all, where no key has
 * that one: by the catalog, nor this key by the log.
 */
export async function askByKind<T>(
  database: Pick<Database, 'askLog'>,
  named: KeyQuery,
  work: (postgres: Queryable) => Promise<T>,
): Promise<T> {
  const answer = await database.askLog(async (postgres) =>
    (await isKind(postgres, named)) ? { found: await work(postgres) } : undefined,
  );
  if (answer === undefined) throw unknownKind(named.kind ?? '');
  return answer.found;
}

async function isKind(postgres: Queryable, { key, kind }: KeyQuery): Promise<boolean> {
  if (kind === undefined || keyKinds.includes(kind)) return true;
  return key !== undefined && (await keysNamed(postgres, key)).some(({ keyKind }) => keyKind === kind);
}

function unknownKind(kind: string): Problem {
  const [nearest] = nearestNames(kind, keyKinds, 1);
  const detail = `is the kind of no key: the nearest is ${nearest}, of ${keyKinds.join(', ')}`;
  return invalidParameters([{ parameter: 'kind', detail }]);
}
