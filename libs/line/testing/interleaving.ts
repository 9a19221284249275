import type { Input } from '../hand-over/state.ts';
import type { Fate, Outgoing } from '../messages.ts';
import { delivery, end, FAILED, LACKING, record, to, ToldStep, waits } from './told-step.ts';

/** An effect whose result is outstanding: of a run first that of the recall, then that of the handler. */
type Awaited = { what: 'recall' | 'run' | 'remember' | 'store' | 'send' | 'flush'; text: string };

const CHANGES: Input[] = [
  { kind: 'broker', is: 'away' },
  { kind: 'broker', is: 'blocked' },
  { kind: 'broker', is: 'writable' },
  { kind: 'back' },
  { kind: 'outlasted' },
  { kind: 'closing' },
];
const LANES = ['queue', 'queue', 'suspects'] as const;
const KEYS = 4;
const MOST_TOGETHER = 4;
/** How many things a message causes. */
const COUNTS = [1, 2, 3, 0, 1, 2];
/** Undefined: confirmed. */
const FATES = [undefined, undefined, 'unconfirmed', 'stalled', 'unbound', 'refused'] as const;

/**
 * Drives the hand-over with messages, and lets everything that it waits for happen in any order. Tracks by itself which messages are
 * safe.
 */
export class Interleaving {
  readonly #step = new ToldStep();
  #waiting: Awaited[] = [];
  readonly #sources: string[][] = [];
  readonly #cut = new Set<number>();
  readonly #ends: number[] = [];
  /** The names of what each message caused. */
  readonly #caused = new Map<string, string[]>();
  /** Messages of which more comes than that they wait. */
  readonly #attempted = new Set<string>();
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
    const first = choice - 4;
    const { what } = this.#waiting[first] ?? {};
    const some = this.#waiting.slice(first).filter((each) => each.what === what);
    this.#happen(some.slice(0, 1 + (rest % MOST_TOGETHER)), Math.floor(rest / MOST_TOGETHER));
  }

  /** Lets everything that is waited for succeed, and checks that nothing is left. */
  end(): void {
    this.#change({ kind: 'broker', is: 'writable' });
    this.#change({ kind: 'back' });
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) this.#happen([next], 0);
    const ended = this.#ends.toSorted((one, other) => one - other);
    if (ended.join() !== [...this.#sources.keys()].join()) this.broken.push(`ended: ${ended.join()}`);
    const { sources, members, keys, deferred: waiting, sendings, bufferedRecords } = this.#step.state;
    const left = [sources, members, keys, waiting, sendings].map(({ size }) => size);
    if (Math.max(...left, bufferedRecords.length) > 0) this.broken.push(`left in the state: ${left.join()}`);
  }

  #come(draw: number): void {
    const all = Array.from({ length: 1 + (Math.floor(draw / 100) % MOST_TOGETHER) }, (_, place) =>
      this.#comingSource(draw + place),
    );
    this.#heard(this.#step.cameTogether(...all));
  }

  #comingSource(draw: number) {
    const source = this.#sources.length;
    const count = (draw % 3) + 1;
    const texts = Array.from({ length: count }, (_, place) => {
      const what = (draw + place) % 7 === 0 ? 'nonsense' : 'message';
      return `${what} ${source}.${place} ${(draw + place) % KEYS}`;
    });
    this.#sources.push(texts);
    const crashes = Math.floor(draw / 7) % 4;
    return { source, texts, lane: LANES[draw % LANES.length] ?? 'queue', deliveryCount: crashes, crashes };
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
        /^(run|remember|store|publish|put|acknowledge|give back|forget) (.+?)(?: after \d+)?$/.exec(effect) ?? [];
      if (effect === 'flush later') this.#waiting.push({ what: 'flush', text: '' });
      else if (verb === 'run') this.#waiting.push({ what: 'recall', text: what });
      else if (verb === 'remember' || verb === 'store') this.#waiting.push({ what: verb, text: what });
      else if (verb === 'publish' || verb === 'put') this.#waiting.push({ what: 'send', text: what });
      else if (verb !== undefined) this.#ended(Number(what), verb === 'acknowledge');
    }
  }

  /** Lets what is waited for happen, together where one input has many. Draw 0 is success. */
  #happen(some: readonly Awaited[], draw: number): void {
    const [first] = some;
    this.#waiting = this.#waiting.filter((each) => !some.includes(each));
    const texts = some.map(({ text }) => text);
    if (first === undefined) return;
    switch (first.what) {
      case 'recall':
        return this.#heard(this.#recalled(texts, draw));
      case 'run':
        return this.#heard(this.#ran(texts, draw));
      case 'remember':
        for (const text of texts) this.#remembered.add(text);
        return this.#heard(this.#step.remembered(...texts));
      case 'send':
        return this.#sent(texts, draw);
      case 'store':
        for (const text of texts) this.#heard(this.#stored(text, draw));
        return;
      case 'flush':
        return this.#heard(this.#step.apply({ kind: 'flush due' }));
    }
  }

  /** A stored copy is a source like any other, of that message alone. */
  #stored(text: string, draw: number): string[] {
    if (draw % 3 === 2) return this.#step.stored(text, undefined);
    const source = this.#sources.push([text]) - 1;
    this.#keptBy.set(text, source);
    return this.#step.stored(text, source);
  }

  #recalled(texts: readonly string[], draw: number): string[] {
    const all = texts.map((text, place): [string, boolean] => [text, (draw + place * 2) % 3 === 2]);
    for (const [text, isKnown] of all) {
      if (isKnown) this.#remembered.add(text);
      else this.#waiting.push({ what: 'run', text });
    }
    return this.#step.recalledTogether(...all);
  }

  #ran(texts: readonly string[], draw: number): string[] {
    if (draw % 7 === 5) return this.#step.threwForAll(texts, draw % 2 === 0 ? FAILED : LACKING);
    const again = this.#saidTwice(texts, draw);
    return this.#step.ended(
      ...again,
      ...texts.map((text, place): [string, Fate] => [text, this.#fateOf(text, draw + place)]),
    );
  }

  /** A second report about a message that has ended. */
  #saidTwice(running: readonly string[], draw: number): [string, Fate][] {
    const ended = [...this.#caused.keys()];
    const text = ended[draw % ended.length];
    const isRunning =
      running.includes(text ?? '') ||
      this.#waiting.some(({ what, text: other }) => (what === 'run' || what === 'recall') && other === text);
    return text === undefined || isRunning ? [] : [[text, { kind: 'done', caused: [] }]];
  }

  #fateOf(text: string, draw: number): Fate {
    const choice = draw % 8;
    if (choice === 6) return FAILED;
    if (choice === 7) return LACKING;
    const kinds: ((name: string) => Outgoing)[] = [delivery, to, record, waits, (name) => end(name)];
    const names = Array.from({ length: COUNTS[choice] ?? 1 }, (_, place) => `${place} of ${text}`);
    this.#caused.set(text, names);
    const first = Math.floor(draw / 8) + text.length;
    const caused = names.flatMap((name, place) => kinds[(place + first) % kinds.length]?.(name) ?? []);
    if (caused.some(({ kind }) => kind !== 'wait')) this.#attempted.add(text);
    return { kind: 'done', caused };
  }

  #sent(all: readonly string[], draw: number): void {
    const fate = FATES[draw % FATES.length];
    if (fate !== undefined) {
      for (const what of all) this.#heard(this.#step.sent(what, fate));
      return;
    }
    for (const name of all.flatMap((what) => what.replace(/^(records|ends|deliveries) /, '').split(',')))
      this.#safe.add(name);
    this.#heard(this.#step.confirmed(...all));
  }

  #ended(source: number, isAcknowledged: boolean): void {
    this.#ends.push(source);
    if (!isAcknowledged) return;
    if (this.#cut.has(source)) this.broken.push(`${source} was cut, and is acknowledged`);
    const unsafe = (this.#sources[source] ?? []).filter((text) => !this.#isSafe(text, source));
    if (unsafe.length > 0) this.broken.push(`acknowledged without ${unsafe.join()}`);
  }

  #isSafe(text: string, source: number): boolean {
    // The message is alone in its queue, or in its stored copy, which is a source of its own.
    if (this.#safe.has(text) || (this.#keptBy.get(text) ?? source) !== source) return true;
    if (this.#safe.has(`suspect ${text}`) || this.#safe.has(`rejected ${text}`)) return true;
    const caused = this.#caused.get(text);
    if (caused === undefined) return this.#remembered.has(text);
    return caused.every((name) => this.#safe.has(name)) && (!this.#attempted.has(text) || this.#remembered.has(text));
  }
}
