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
    await new Promise<void>((enter) => {
      this.#line.push({ bytes, enter });
      this.#admit();
    });
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
    while (this.#messages < this.#limits.messages && this.#bytes < this.#limits.bytes) {
      const next = this.#line.shift();
      if (next === undefined) return;
      this.#messages += 1;
      this.#bytes += next.bytes;
      next.enter();
    }
  }
}
