import { nearestNames } from '@waybell/catalog/names';
import { keysNamed } from '@waybell/delivery-log/read/find-anything';
import { keyKinds } from '@waybell/events/key-kinds';
import type { Queryable } from '@waybell/runtime/postgres';
import type { Database } from '../../database.ts';
import type { Problem } from '../http/problem.ts';
import { invalidParameters } from '../http/read-query.ts';

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
