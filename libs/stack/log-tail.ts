import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

/** Reads a growing file line by line, from its beginning or from its last `lines` on. Follows a file that is truncated. */
export class LogTail {
  readonly #path: string;
  #position = 0;
  #rest = '';
  #last: number | undefined;

  constructor(path: string, { last }: { last?: number } = {}) {
    this.#path = path;
    this.#last = last;
  }

  /** The complete lines that have come since. */
  read(): string[] {
    if (!existsSync(this.#path)) return [];
    const lines = (this.#rest + this.#readNew()).split('\n');
    this.#rest = lines.pop() ?? '';
    const shown = this.#last === undefined ? lines : lines.slice(-this.#last);
    this.#last = undefined;
    return shown;
  }

  #readNew(): string {
    const file = openSync(this.#path, 'r');
    try {
      const { size } = fstatSync(file);
      if (size < this.#position) this.#position = 0;
      const bytes = Buffer.alloc(size - this.#position);
      this.#position += readSync(file, bytes, 0, bytes.length, this.#position);
      return bytes.toString();
    } finally {
      closeSync(file);
    }
  }
}
