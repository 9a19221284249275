import type { Input } from '../hand-over/state.ts';
import type { Outgoing } from '../messages.ts';
import { end, parked, record, to, ToldStep } from './told-step.ts';

/** Possible results of one effect; the first is success. */
type Choices = (() => string[])[];

const CHANGES: Input[] = [
  { kind: 'broker', is: 'away' },
  { kind: 'broker', is: 'blocked' },
  { kind: 'broker', is: 'writable' },
  { kind: 'back' },
  { kind: 'outlasted' },
  { kind: 'closing' },
];
const DOORS = ['queue', 'queue', 'suspects', 'quarantine'] as const;
const KEYS = 4;

/**
 * Drives the hand-over with messages, and lets everything that it waits for happen in any order. Tracks by itself which messages are
 * safe.
 */
export class Interleaving {
  readonly #step = new ToldStep();
  #waiting: Choices[] = [];
  readonly #sources: string[][] = [];
  readonly #cut = new Set<number>();
  readonly #ends: number[] = [];
  /** The names of what each message caused. */
  readonly #caused = new Map<string, string[]>();
  readonly #safe = new Set<string>();
  readonly #keptBy = new Map<string, number>();
  /** Messages that were ever remembered. */
  readonly #remembered = new Set<string>();
  /** Violations found; empty if the hand-over is correct. */
  readonly broken: string[] = [];

  /** Lets one thing happen, chosen by the number. */
  goOn(draw: number): void {
    const count = this.#waiting.length + 4;
    const [choice, rest] = [draw % count, Math.floor(draw / count)];
    if (choice === 0) return this.#come(rest);
    if (choice === 1) return this.#isCut(rest % Math.max(1, this.#sources.length));
    if (choice === 2) return this.#change(CHANGES[rest % (CHANGES.length * 4)]);
    if (choice === 3) return this.#heard(this.#step.slow(rest % Math.max(1, this.#sources.length)));
    const [choices = []] = this.#waiting.splice(choice - 4, 1);
    this.#heard(choices[rest % choices.length]?.() ?? []);
  }

  /** Lets everything that is waited for succeed, and checks that nothing is left. */
  end(): void {
    this.#change({ kind: 'broker', is: 'writable' });
    this.#change({ kind: 'back' });
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      this.#heard(next[0]?.() ?? []);
    const ended = this.#ends.toSorted((one, other) => one - other);
    if (ended.join() !== [...this.#sources.keys()].join()) this.broken.push(`ended: ${ended.join()}`);
    const { sources, members, keys, waiting, sendings, bufferedRecords } = this.#step.state;
    const left = [sources, members, keys, waiting, sendings].map(({ size }) => size);
    if (Math.max(...left, bufferedRecords.length) > 0) this.broken.push(`left in the state: ${left.join()}`);
  }

  #come(draw: number): void {
    const source = this.#sources.length;
    const count = (draw % 3) + 1;
    const texts = Array.from({ length: count }, (_, place) => {
      const what = (draw + place) % 7 === 0 ? 'nonsense' : 'message';
      return `${what} ${source}.${place} ${(draw + place) % KEYS}`;
    });
    this.#sources.push(texts);
    const lane = DOORS[draw % DOORS.length] ?? 'queue';
    const deaths = Math.floor(draw / 7) % 4;
    this.#heard(this.#step.came(source, texts, { lane, deliveryCount: deaths, deaths }));
  }

  #isCut(source: number): void {
    if (this.#sources.length === 0) return;
    this.#cut.add(source);
    this.#change({ kind: 'cut', source });
  }

  #change(change: Input | undefined): void {
    if (change !== undefined) this.#heard(this.#step.apply(change));
  }

  #heard(effects: readonly string[]): void {
    for (const effect of effects) {
      const [, verb, what = ''] =
        /^(recall|run|remember|lease|publish|keep|park|acknowledge|give back|forget) (.+?)(?: after \d+)?$/.exec(
          effect,
        ) ?? [];
      if (effect === 'flush later') this.#waiting.push([() => this.#step.apply({ kind: 'flush due' })]);
      else if (verb === 'recall') this.#waiting.push(this.#recall(what));
      else if (verb === 'run') this.#waiting.push(this.#run(what));
      else if (verb === 'remember')
        this.#waiting.push([() => this.#isRemembered(what, () => this.#step.remembered(what))]);
      else if (verb === 'lease') this.#waiting.push(this.#lease(what));
      else if (verb === 'publish' || verb === 'keep' || verb === 'park') this.#waiting.push(this.#send(what));
      else if (verb !== undefined) this.#ended(Number(what), verb === 'acknowledge');
    }
  }

  /** A lease is a source like any other, of that message alone. */
  #lease(text: string): Choices {
    const kept = () => {
      const source = this.#sources.push([text]) - 1;
      this.#keptBy.set(text, source);
      return this.#step.leased(text, source);
    };
    return [kept, kept, () => this.#step.leased(text, undefined)];
  }

  #recall(text: string): Choices {
    const isNew = () => this.#step.recalled(text, false);
    return [isNew, isNew, () => this.#isRemembered(text, () => this.#step.recalled(text, true))];
  }

  #isRemembered(text: string, hear: () => string[]): string[] {
    this.#remembered.add(text);
    return hear();
  }

  #run(text: string): Choices {
    const kinds: ((name: string) => Outgoing)[] = [to, record, parked, (name) => end(name)];
    const returned = (count: number) => () => {
      const names = Array.from({ length: count }, (_, place) => `${place} of ${text}`);
      this.#caused.set(text, names);
      return this.#step.returned(
        text,
        ...names.flatMap((name, place) => kinds[(place + text.length) % kinds.length]?.(name) ?? []),
      );
    };
    return [
      returned(1),
      returned(2),
      returned(3),
      returned(0),
      () => this.#step.threw(text),
      () => this.#step.dependencyAway(text),
    ];
  }

  #send(what: string): Choices {
    const confirmed = () => {
      for (const name of what.replace(/^(records|ends) /, '').split(',')) this.#safe.add(name);
      return this.#step.sent(what, 'confirmed');
    };
    const fates = ['unconfirmed', 'stalled', 'unbound', 'refused'] as const;
    return [confirmed, confirmed, ...fates.map((fate) => () => this.#step.sent(what, fate))];
  }

  #ended(source: number, isAcknowledged: boolean): void {
    this.#ends.push(source);
    if (!isAcknowledged) return;
    if (this.#cut.has(source)) this.broken.push(`${source} was cut, and is acknowledged`);
    const unsafe = (this.#sources[source] ?? []).filter((text) => !this.#isSafe(text, source));
    if (unsafe.length > 0) this.broken.push(`acknowledged without ${unsafe.join()}`);
  }

  #isSafe(text: string, source: number): boolean {
    // The message is alone in its queue, or in its lease, which is a source of its own.
    if (this.#safe.has(text) || (this.#keptBy.get(text) ?? source) !== source) return true;
    if (this.#safe.has(`suspect ${text}`) || this.#safe.has(`rejected ${text}`)) return true;
    const caused = this.#caused.get(text);
    if (caused === undefined) return this.#remembered.has(text);
    return caused.every((name) => this.#safe.has(name)) && (caused.length === 0 || this.#remembered.has(text));
  }
}
