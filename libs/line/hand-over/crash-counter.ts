import { hash } from 'node:crypto';
import type { Deaths } from '../deaths.ts';
import type { Message, Source } from '../messages.ts';
import { deathsOf, type Lane } from './suspicion.ts';

/** Exceeds what any step holds at once. */
const MOST_SURVIVED = 4_096;

type DeathNote = { name: string; alone?: string };

/**
 * Counts crashes per message: how many processes died with it in hand. A return to its queue alone is no crash: a connection may
 * have broken, or a process may have given the message back.
 */
export class CrashCounter {
  readonly #deaths: Deaths | undefined;
  readonly #counting = new Set<number>();
  /** Notes of this process about what it holds, by source. */
  readonly #notes = new Map<number, DeathNote>();
  /** How often a message returned to its queue from this process, which lives. */
  readonly #returnsWhileAlive = new Map<string, number>();

  constructor(deaths: Deaths | undefined) {
    this.#deaths = deaths;
  }

  /** Number of messages whose crashes are being counted. */
  get counting(): number {
    return this.#counting.size;
  }

  /** Sets `deaths` of the message, then runs `onCounted`: at once, unless Redis is asked; never after the source was cut. */
  count({ id, raw }: Source, lane: Lane, onCounted: () => void): void {
    // A first delivery is not noted: that would cost a command for each message.
    if (raw === undefined || (lane === 'queue' && raw.deliveryCount === 0)) return onCounted();
    const name = nameOf(raw);
    const returns = Math.max(0, raw.deliveryCount - (this.#returnsWhileAlive.get(name) ?? 0));
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

  /** Notes that the message returned to its queue while this process lives. */
  noteReturn(source: Source): void {
    const { raw } = source;
    if (raw === undefined) return;
    this.#counting.delete(source.id);
    this.done(source);
    const name = nameOf(raw);
    const times = (this.#returnsWhileAlive.get(name) ?? 0) + 1;
    this.#returnsWhileAlive.delete(name);
    this.#returnsWhileAlive.set(name, times);
    for (const oldest of this.#returnsWhileAlive.keys()) {
      if (this.#returnsWhileAlive.size <= MOST_SURVIVED) break;
      this.#returnsWhileAlive.delete(oldest);
    }
  }

  /** Removes the note of a message that is no longer in hand. */
  done({ id }: Source): void {
    const note = this.#notes.get(id);
    if (note === undefined) return;
    this.#notes.delete(id);
    this.#deaths?.letGo(namesOf(note));
  }

  /** Removes all notes that a message of the quarantine is handled alone. */
  clearAlone(): void {
    for (const { alone } of this.#notes.values()) if (alone !== undefined) this.#deaths?.letGo([alone]);
  }
}

const namesOf = ({ name, alone }: DeathNote): string[] => (alone === undefined ? [name] : [name, alone]);

/** Names a message the same in every process and at every delivery from this queue. */
function nameOf({ queue, messageId, note, body }: Message): string {
  const what = messageId === undefined ? hash('sha256', body) : `${messageId} ${note}`;
  return hash('sha256', `${queue} ${what}`).slice(0, 32);
}
