import type { LookupAddress, RecordWithTtl } from 'node:dns';
import type { Resolver } from 'node:dns/promises';
import type { Clock } from '../clock.ts';
import { isAnswer } from './name-servers.ts';

/** DNS knows no address of the host, or did not answer. */
export class UnresolvedHost extends Error {
  readonly code = 'UNRESOLVED_HOST';
  constructor(host: string, cause: unknown) {
    super(`no address of ${host} was found`, { cause });
    this.name = 'UnresolvedHost';
  }
}

/**
 * How long the addresses of one family wait for the other (RFC 8305, 3, which has 50 ms, for clients that connect to them at
 * once).
 */
const LATE_MS = 250;

/** An address, with its TTL in seconds. */
export type AddressRecord = RecordWithTtl & LookupAddress;

type FamilyAnswer = { records: AddressRecord[]; error?: unknown; isLate?: true };

type AddressSearch = { resolver: Resolver; host: string; names: readonly string[]; clock: Pick<Clock, 'after'> };

/** Returns the addresses of the first of these names that has any. Throws `UnresolvedHost`. */
export async function findAddresses({ resolver, host, names, clock }: AddressSearch): Promise<AddressRecord[]> {
  let lastError: unknown;
  for (const name of names) {
    const told = await hear([resolve(resolver, name, 4), resolve(resolver, name, 6)], clock);
    const records = told.flatMap((each) => each.records);
    // An incomplete answer gets a short TTL.
    if (records.length > 0) return told.some(({ isLate }) => isLate) ? records.map(asBrief) : records;
    const errors = told.map(({ error }) => error);
    lastError = errors.find((error) => !isAbsence(error)) ?? errors[0];
    // No other name may replace one that may exist: it would get that one's requests.
    if (!isAbsence(lastError)) break;
  }
  throw new UnresolvedHost(host, lastError);
}

/**
 * Collects the answers of both families. Once one has addresses, the other has a little longer: some name servers and firewalls
 * drop its queries.
 */
async function hear(asked: readonly Promise<FamilyAnswer>[], clock: Pick<Clock, 'after'>): Promise<FamilyAnswer[]> {
  const late = Promise.withResolvers<FamilyAnswer>();
  let limit: Disposable | undefined;
  const heard = asked.map(async (each) => {
    const told = await each;
    if (told.records.length > 0) limit ??= clock.after(LATE_MS, () => late.resolve({ records: [], isLate: true }));
    return told;
  });
  try {
    return await Promise.all(heard.map((each) => Promise.race([each, late.promise])));
  } finally {
    limit?.[Symbol.dispose]();
  }
}

function resolve(resolver: Resolver, name: string, family: 4 | 6): Promise<FamilyAnswer> {
  const asked = family === 4 ? resolver.resolve4(name, { ttl: true }) : resolver.resolve6(name, { ttl: true });
  return asked.then(
    (records) => ({ records: records.map((record) => ({ ...record, family })) }),
    (error: unknown) => ({ records: [], error }),
  );
}

const asBrief = (record: AddressRecord): AddressRecord => ({ ...record, ttl: 0 });

const isAbsence = (error: unknown): boolean => error === undefined || isAnswer(error);
