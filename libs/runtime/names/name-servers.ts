import type { Resolver } from 'node:dns/promises';
import type { Clock } from '../clock.ts';
import { codeOf } from '../error-codes.ts';
import type { Log } from '../log.ts';

/** Codes of c-ares that are an answer about a name; any other means that no server answered intelligibly. */
const ANSWERS = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
/** The zone whose servers every working name server knows, but those of closed networks. */
const ROOT = '.';
const LEARN_INTERVAL_MS = 60_000;
const AWAY_INTERVAL_MS = 1_000;
/** While names are answered for nonetheless, as from memory, they are not missed. */
const ANSWERED_MS = 5_000;

/** The name servers of this machine are away, and with them every name: it says nothing about the one that was looked up. */
export class NameServersAway extends Error {
  readonly code = 'NAME_SERVERS_AWAY';
  constructor(servers: readonly string[]) {
    super(`name servers ${servers.join(', ')} do not answer`);
    this.name = 'NameServersAway';
  }
}

export type NameServersOptions = {
  /** Whether this machine is told of any. */
  areNamed: () => boolean;
  /** What asks each of them, once. */
  openResolvers: () => Resolver[];
  /** Called each time that they were silent: others may have been named meanwhile. */
  onSilence: () => void;
  clock: Clock;
  log: Pick<Log, 'info' | 'warn'> | undefined;
};

/**
 * A name that is not answered for may be to blame itself: its own servers are away. So the name servers are asked for
 * something that has nothing to do with it: for the root, and where they were never heard to answer that, for the last name that they
 * answered. They are missed once they have answered, or something is looked up while this
 * machine is told of some; without any, nothing follows from silence. Until something is looked up it says nothing: a
 * network may be closed, with receivers that need no names.
 */
export class NameServers {
  readonly #options: NameServersOptions;
  #areMissed = false;
  #knowRoot = false;
  #lastName: string | undefined;
  #asked: Promise<boolean> | undefined;
  #awayAt: number | undefined;
  #answeredAt = -Infinity;
  /** Those that were asked last. */
  #servers: string[] = [];

  constructor(options: NameServersOptions) {
    this.#options = options;
    // They are to be known before they are missed.
    void this.#askUntilAnswered(LEARN_INTERVAL_MS);
  }

  /** Throws NameServersAway. */
  async assertAnswering(): Promise<void> {
    this.#areMissed ||= this.#options.areNamed();
    if (!(await this.ask()) && this.#areMissed) throw new NameServersAway(this.#servers);
  }

  /** Whether they answer now; once for all callers at the same time. */
  ask(): Promise<boolean> {
    return (this.#asked ??= this.#ask());
  }

  /** Others may be asked from now on. */
  changed(): void {
    this.#knowRoot = false;
    this.#lastName = undefined;
    void this.ask();
  }

  /** They said something of this name. */
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

  /** All at once: one after the other they would be silent for longer than a request has. */
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

/** Whether it says something about the name. */
export function isAnswer(error: unknown): boolean {
  return ANSWERS.has(codeOf(error));
}
