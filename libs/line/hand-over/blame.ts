import { hash } from 'node:crypto';
import type { Deaths } from '../deaths.ts';
import type { Message, Source } from '../messages.ts';
import { deathsOf, type Door } from './suspicion.ts';

/** More than any step holds at once. */
const MOST_SURVIVED = 4_096;

type Note = { name: string; alone?: string };

/**
 * Finds out of messages that come again how many processes died with each in hand. A return to the queue alone says
 * nothing: a connection broke, or it was given back.
 */
export class Blame {
  readonly #deaths: Deaths | undefined;
  readonly #judging = new Set<number>();
  /** What this process has said that it has in hand, by source. */
  readonly #notes = new Map<number, Note>();
  /** How often a message went back to its queue from here, and this process lives. */
  readonly #survived = new Map<string, number>();

  constructor(deaths: Deaths | undefined) {
    this.#deaths = deaths;
  }

  /** How many messages it is finding out about. */
  get judging(): number {
    return this.#judging.size;
  }

  /** Sets `deaths` of what came, and then runs `onJudged`: at once, unless others are to be asked; never once it was cut. */
  judge({ id, raw }: Source, door: Door, onJudged: () => void): void {
    // The first time that it is in hand nothing is noted: that would cost each message a command.
    if (raw === undefined || (door === 'queue' && raw.deliveryCount === 0)) return onJudged();
    const name = nameOf(raw);
    const returns = Math.max(0, raw.deliveryCount - (this.#survived.get(name) ?? 0));
    raw.deaths = deathsOf(door, returns, undefined);
    if (this.#deaths === undefined) return onJudged();
    const note: Note = door === 'quarantine' ? { name, alone: `${name} alone` } : { name };
    this.#notes.set(id, note);
    this.#judging.add(id);
    void this.#deaths.hold(namesOf(note)).then(([held, alone = held]) => {
      if (!this.#judging.delete(id)) return;
      if (held !== undefined && alone !== undefined) raw.deaths = deathsOf(door, returns, { held, alone });
      onJudged();
    });
  }

  /** It went back to its queue, and this process lives. */
  survived(source: Source): void {
    const { raw } = source;
    if (raw === undefined) return;
    this.#judging.delete(source.id);
    this.done(source);
    const name = nameOf(raw);
    const times = (this.#survived.get(name) ?? 0) + 1;
    this.#survived.delete(name);
    this.#survived.set(name, times);
    for (const oldest of this.#survived.keys()) {
      if (this.#survived.size <= MOST_SURVIVED) break;
      this.#survived.delete(oldest);
    }
  }

  /** It is in hand no more. */
  done({ id }: Source): void {
    const note = this.#notes.get(id);
    if (note === undefined) return;
    this.#notes.delete(id);
    this.#deaths?.letGo(namesOf(note));
  }

  /** From now on there is something beside what came from the quarantine. */
  noneIsAlone(): void {
    for (const { alone } of this.#notes.values()) if (alone !== undefined) this.#deaths?.letGo([alone]);
  }
}

const namesOf = ({ name, alone }: Note): string[] => (alone === undefined ? [name] : [name, alone]);

/** The same for a message each time that it comes from this queue, to whichever process. */
function nameOf({ queue, messageId, note, body }: Message): string {
  const what = messageId === undefined ? hash('sha256', body) : `${messageId} ${note}`;
  return hash('sha256', `${queue} ${what}`).slice(0, 32);
}
