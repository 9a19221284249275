import { hash } from 'node:crypto';
import type { Deaths } from '../deaths.ts';
import type { Message, Source } from '../messages.ts';
import { deathsOf, type Lane } from './suspicion.ts';

/** More than any step holds at once. */
const MOST_SURVIVED = 4_096;

type DeathNote = { name: string; alone?: string };

/**
 * Counts crashes per message: how many processes died with it in hand. That it returned to its queue is no crash: a connection
 * may have broken, or a process given it back.
 */
export class CrashCounter {
  readonly #deaths: Deaths | undefined;
  readonly #counting = new Set<number>();
  /** The notes of this process about what it has in hand, by source. */
  readonly #notes = new Map<number, DeathNote>();
  /** How often a message went back to its queue from here, and this process lives. */
  readonly #survived = new Map<string, number>();

  constructor(deaths: Deaths | undefined) {
    this.#deaths = deaths;
  }

  /** Messages whose crashes are being counted. */
  get counting(): number {
    return this.#counting.size;
  }

  /** Sets `deaths` of what came, and then runs `onCounted`: at once, unless others are to be asked; never once it was cut. */
  count({ id, raw }: Source, lane: Lane, onCounted: () => void): void {
    // The first time that it is in hand nothing is noted: that would cost each message a command.
    if (raw === undefined || (lane === 'queue' && raw.deliveryCount === 0)) return onCounted();
    const name = nameOf(raw);
    const returns = Math.max(0, raw.deliveryCount - (this.#survived.get(name) ?? 0));
    raw.deaths = deathsOf(lane, returns, undefined);
    if (this.#deaths === undefined) return onCounted();
    const note: DeathNote = lane === 'quarantine' ? { name, alone: `${name} alone` } : { name };
    this.#notes.set(id, note);
    this.#counting.add(id);
    void this.#deaths.hold(namesOf(note)).then(([held, alone = held]) => {
      if (!this.#counting.delete(id)) return;
      if (held !== undefined && alone !== undefined) raw.deaths = deathsOf(lane, returns, { held, alone });
      onCounted();
    });
  }

  /** It went back to its queue, and this process lives. */
  survived(source: Source): void {
    const { raw } = source;
    if (raw === undefined) return;
    this.#counting.delete(source.id);
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

  /** Takes the note of a message back that is in hand no more. */
  done({ id }: Source): void {
    const note = this.#notes.get(id);
    if (note === undefined) return;
    this.#notes.delete(id);
    this.#deaths?.letGo(namesOf(note));
  }

  /** Takes back every note that a message of the quarantine is handled alone. */
  clearAlone(): void {
    for (const { alone } of this.#notes.values()) if (alone !== undefined) this.#deaths?.letGo([alone]);
  }
}

const namesOf = ({ name, alone }: DeathNote): string[] => (alone === undefined ? [name] : [name, alone]);

/** The same for a message each time that it comes from this queue, to whichever process. */
function nameOf({ queue, messageId, note, body }: Message): string {
  const what = messageId === undefined ? hash('sha256', body) : `${messageId} ${note}`;
  return hash('sha256', `${queue} ${what}`).slice(0, 32);
}
