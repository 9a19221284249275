/** Questions to name servers: whether they answer at all, and for the addresses of a host. */
import type { LookupAddress, RecordWithTtl } from 'node:dns';
import type { Resolver } from 'node:dns/promises';
import type { Clock } from '../clock.ts';
import { codeOf } from '../error-codes.ts';
import type { Log } from '../log.ts';

/** Codes of c-ares that are an answer about a name; any other means that no server gave a usable answer. */
const ANSWERS = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
/** The zone whose servers every working name server knows, except in closed networks. */
const ROOT = '.';
const LEARN_INTERVAL_MS = 60_000;
const AWAY_INTERVAL_MS = 1_000;
/** Within this time after an answer about a name, the name servers are not reported as away. */
const ANSWERED_MS = 5_000;

/** This machine's name servers are away, and with them every name: that says nothing about the name that was looked up. */
export class NameServersAway extends Error {
  readonly code = 'NAME_SERVERS_AWAY';
  constructor(servers: readonly string[]) {
    super(`name servers ${servers.join(', ')} do not answer`);
    this.name = 'NameServersAway';
  }
}

type NameServersOptions = {
  /** Whether this machine's configuration names any. */
  areNamed: () => boolean;
  /** Opens a resolver for each of them, which asks once. */
  openResolvers: () => Resolver[];
  /** Called each time that none answered: the configuration may name others meanwhile. */
  onSilence: () => void;
  clock: Clock;
  log: Pick<Log, 'info' | 'warn'> | undefined;
};

/**
 * Detects that this machine's name servers are away. If a name gets no answer, the name's own servers may be away. So asks the
 * name servers for something unrelated: for the root and, if they never answered that, for the last name that they answered. They
 * count as missed only after they have answered once, or when a name is looked up while the configuration names some. Reports
 * nothing before the first look-up: the network may be closed, with receivers that need no names.
 */
export class NameServers {
  readonly #options: NameServersOptions;
  #areMissed = false;
  #knowRoot = false;
  #lastName: string | undefined;
  #asked: Promise<boolean> | undefined;
  #awayAt: number | undefined;
  #answeredAt = -Infinity;
  /** The servers asked last. */
  #servers: string[] = [];

  constructor(options: NameServersOptions) {
    this.#options = options;
    // They must be known before they can be missed.
    void this.#askUntilAnswered(LEARN_INTERVAL_MS);
  }

  /** Throws NameServersAway if they do not answer. */
  async assertAnswering(): Promise<void> {
    this.#areMissed ||= this.#options.areNamed();
    if (!(await this.ask()) && this.#areMissed) throw new NameServersAway(this.#servers);
  }

  /** Returns whether they answer now. Concurrent callers share one check. */
  ask(): Promise<boolean> {
    return (this.#asked ??= this.#ask());
  }

  /** Forgets what the servers are known to answer: the configuration names others now. */
  changed(): void {
    this.#knowRoot = false;
    this.#lastName = undefined;
    void this.ask();
  }

  /** Notes that they answered about this name. */
  answered(name: string): void {
    this.#areMissed = true;
    this.#lastName = name;
    this.#answeredAt = this.#options.clock.now();
  }

  waitingFor(): string[] {
    const { clock } = this.#options;
    const isMissed = this.#awayAt !== undefined && clock.now() - this.#answeredAt > ANSWERED_MS;
    return isMissed ? [new NameServersAway(this.#servers).message] : [];
  }

  /** Asks all at once: one after the other would take longer than a request may. */
  async #ask(): Promise<boolean> {
    const { openResolvers, onSilence } = this.#options;
    const resolvers = openResolvers();
    const isAnswered = await Promise.any(resolvers.flatMap((resolver) => this.#question(resolver))).then(
      () => true,
      () => false,
    );
    for (const resolver of resolvers) resolver.cancel();
    this.#asked = undefined;
    this.#servers = resolvers.flatMap((resolver) => resolver.getServers());
    if (isAnswered) this.#back();
    else {
      if (this.#areMissed) this.#away();
      onSilence();
    }
    return isAnswered;
  }

  #question(resolver: Resolver): Promise<void>[] {
    const root = resolver.resolveNs(ROOT).catch(unlessAnswer);
    const learnt = root.then(() => void (this.#knowRoot = true));
    if (this.#knowRoot || this.#lastName === undefined) return [learnt];
    return [learnt, resolver.resolve4(this.#lastName).then(() => undefined, unlessAnswer)];
  }

  #away(): void {
    if (this.#awayAt !== undefined) return;
    const { clock, log } = this.#options;
    this.#awayAt = clock.now();
    log?.warn({ servers: this.#servers }, 'name-servers.away');
    clock.after(AWAY_INTERVAL_MS, () => void this.#askUntilAnswered(AWAY_INTERVAL_MS)).unref();
  }

  #back(): void {
    this.#areMissed = true;
    if (this.#awayAt === undefined) return;
    const { clock, log } = this.#options;
    log?.info({ servers: this.#servers, awayMs: Math.round(clock.now() - this.#awayAt) }, 'name-servers.back');
    this.#awayAt = undefined;
  }

  async #askUntilAnswered(intervalMs: number): Promise<void> {
    if (await this.ask()) return;
    this.#options.clock.after(intervalMs, () => void this.#askUntilAnswered(intervalMs)).unref();
  }
}

function unlessAnswer(error: unknown): void {
  if (!isAnswer(error)) throw error;
}

/** Whether the error is an answer about the name. */
export function isAnswer(error: unknown): boolean {
  return ANSWERS.has(codeOf(error));
}

/** DNS knows no address of the host, or did not answer. */
export class UnresolvedHost extends Error {
  readonly code = 'UNRESOLVED_HOST';
  constructor(host: string, cause: unknown) {
    super(`no address of ${host} was found`, { cause });
    this.name = 'UnresolvedHost';
  }
}

/** An address, with its TTL in seconds. */
export type AddressRecord = RecordWithTtl & LookupAddress;

type FamilyAnswer = { records: AddressRecord[]; error?: unknown; isLate?: true };

type AddressSearch = { resolver: Resolver; host: string; names: readonly string[]; clock: Pick<Clock, 'after'> };

/**
 * How long the addresses of one family wait for the other (RFC 8305, 3, which has 50 ms, for clients that connect to them at
 * once).
 */
const LATE_MS = 250;

/** Returns the addresses of the first of these names that has any. Throws `UnresolvedHost`. */
export async function findAddresses({ resolver, host, names, clock }: AddressSearch): Promise<AddressRecord[]> {
  let lastError: unknown;
  for (const name of names) {
    const answers = await collect([resolve(resolver, name, 4), resolve(resolver, name, 6)], clock);
    const records = answers.flatMap((each) => each.records);
    // An incomplete answer gets a short TTL.
    if (records.length > 0) return answers.some(({ isLate }) => isLate) ? records.map(asBrief) : records;
    const errors = answers.map(({ error }) => error);
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
async function collect(
  questions: readonly Promise<FamilyAnswer>[],
  clock: Pick<Clock, 'after'>,
): Promise<FamilyAnswer[]> {
  const late = Promise.withResolvers<FamilyAnswer>();
  let limit: Disposable | undefined;
  const collected = questions.map(async (each) => {
    const answer = await each;
    if (answer.records.length > 0) limit ??= clock.after(LATE_MS, () => late.resolve({ records: [], isLate: true }));
    return answer;
  });
  try {
    return await Promise.all(collected.map((each) => Promise.race([each, late.promise])));
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
