/** What an operator asked for cannot be done. The message says why and what to do; it is for people. */
export class Refusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Refusal';
  }
}
