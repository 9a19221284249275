/** An event in a file: its first line, counted from 1, and its bytes as they are written. */
export type EventText = { line: number; bytes: Buffer };

/** A place where the file itself is wrong, between its events. */
export type Misplaced = { line: number; detail: string };

export type Split = { events: EventText[]; misplaced: Misplaced[] };

const QUOTE = 0x22;
const COMMA = 0x2c;
const NEWLINE = 0x0a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/**
 * Finds the events of a file: one a line, written over several lines, or the items of an array. Bytes stay bytes: whether
 * each is an event is for the reader of events to say. One that does not end takes no more with it than it must: from
 * there on each line that begins with a brace begins an event.
 */
export function splitEvents(file: Buffer): Split {
  const split: Split = { events: [], misplaced: [] };
  const cursor = new FileCursor(file);
  while (!cursor.isAtEnd()) {
    if (cursor.isAt(OPEN_BRACKET)) splitArray(cursor, split);
    else split.events.push(cursor.take('on a line'));
  }
  return split;
}

function splitArray(cursor: FileCursor, { events, misplaced }: Split): void {
  const { line } = cursor;
  cursor.skip(OPEN_BRACKET);
  if (cursor.skip(CLOSE_BRACKET)) return;
  while (!cursor.isAtEnd()) {
    if (cursor.isAt(CLOSE_BRACKET) || cursor.isAt(COMMA))
      misplaced.push({ line: cursor.line, detail: 'an event is expected' });
    else events.push(cursor.take('in an array'));
    if (cursor.skip(CLOSE_BRACKET)) return;
    if (!cursor.skip(COMMA) && !cursor.isAtEnd()) misplaced.push({ line: cursor.line, detail: 'a comma is expected' });
  }
  misplaced.push({ line: cursor.line, detail: `the array that begins on line ${line} has no closing bracket` });
}

/** A place in the file, always before a character that is no white space, or at the end. */
class FileCursor {
  line = 1;
  readonly #file: Buffer;
  #at = 0;
  /** An event before did not end. */
  #isCautious = false;

  constructor(file: Buffer) {
    this.#file = file;
    this.#moveTo(0);
  }

  isAtEnd(): boolean {
    return this.#at === this.#file.length;
  }

  isAt(byte: number): boolean {
    return this.#file[this.#at] === byte;
  }

  skip(byte: number): boolean {
    if (!this.isAt(byte)) return false;
    this.#moveTo(this.#at + 1);
    return true;
  }

  /** Takes the value that begins here, to its end. */
  take(where: 'on a line' | 'in an array'): EventText {
    const { line } = this;
    const from = this.#at;
    const isNested = this.isAt(OPEN_BRACE) || this.isAt(OPEN_BRACKET);
    const to = isNested ? this.#endOfNested(where) : this.#endOfOther(where);
    this.#moveTo(to);
    return { line, bytes: this.#file.subarray(from, to) };
  }

  #moveTo(place: number): void {
    for (; this.#at < this.#file.length; this.#at += 1) {
      const byte = this.#file[this.#at] ?? 0;
      if (this.#at >= place && byte > SPACE) return;
      if (byte === NEWLINE) this.line += 1;
    }
  }

  #endOfNested(where: 'on a line' | 'in an array'): number {
    const closing: number[] = [];
    for (let at = this.#at; at < this.#file.length; at += 1) {
      const byte = this.#file[at] ?? 0;
      if (byte === QUOTE) at = this.#endOfString(at);
      else if (byte === OPEN_BRACE) closing.push(CLOSE_BRACE);
      else if (byte === OPEN_BRACKET) closing.push(CLOSE_BRACKET);
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (closing.pop() !== byte) return this.#endOfBroken(where, at);
        if (closing.length === 0) return at + 1;
      } else if (byte === NEWLINE && this.#isCautious && this.#file[at + 1] === OPEN_BRACE) return at;
    }
    return this.#endOfBroken(where, this.#file.length);
  }

  /**
   * Finds the end of a broken value: the place of the error is often far beyond its cause. The brackets of an array may still
   * close it.
   */
  #endOfBroken(where: 'on a line' | 'in an array', at: number): number {
    if (this.#isCautious) return where === 'in an array' ? at : this.#endOfLine(at);
    this.#isCautious = true;
    return this.#endOfNested(where);
  }

  /** Ends at its quote, or before the end of the line: no string goes beyond that. */
  #endOfString(begin: number): number {
    for (let at = begin + 1; at < this.#file.length; at += 1) {
      const byte = this.#file[at];
      if (byte === QUOTE) return at;
      if (byte === NEWLINE) return at - 1;
      if (byte === BACKSLASH && this.#file[at + 1] !== NEWLINE) at += 1;
    }
    return this.#file.length;
  }

  #endOfOther(where: 'on a line' | 'in an array'): number {
    const end = this.#endOfLine(this.#at);
    if (where === 'on a line') return end;
    const length = this.#file.subarray(this.#at, end).findIndex((byte) => byte === COMMA || byte === CLOSE_BRACKET);
    return length === -1 ? end : this.#at + length;
  }

  #endOfLine(from: number): number {
    const newline = this.#file.indexOf(NEWLINE, from);
    return newline === -1 ? this.#file.length : newline;
  }
}
