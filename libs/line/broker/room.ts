/** Room for so many messages and so many bytes at once. Who finds none waits in line. */
export class Room {
  readonly #limits: { messages: number; bytes: number };
  readonly #line: { bytes: number; enter: () => void }[] = [];
  #messages = 0;
  #bytes = 0;

  constructor(limits: { messages: number; bytes: number }) {
    this.#limits = limits;
  }

  async use<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    if (this.#line.length === 0 && this.#hasRoom()) this.#enter(bytes);
    else await new Promise<void>((enter) => this.#line.push({ bytes, enter }));
    try {
      return await work();
    } finally {
      this.#messages -= 1;
      this.#bytes -= bytes;
      this.#admit();
    }
  }

  /** One message may exceed the bytes: it would never find room otherwise. */
  #admit(): void {
    while (this.#hasRoom()) {
      const next = this.#line.shift();
      if (next === undefined) return;
      this.#enter(next.bytes);
      next.enter();
    }
  }

  #hasRoom(): boolean {
    return this.#messages < this.#limits.messages && this.#bytes < this.#limits.bytes;
  }

  #enter(bytes: number): void {
    this.#messages += 1;
    this.#bytes += bytes;
  }
}
