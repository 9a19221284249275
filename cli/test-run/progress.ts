import type { FileEvent } from './run-jest.ts';

export type ProgressOptions = {
  files: number;
  /** Writes to the terminal or log that the user looks at. */
  write: (text: string) => void;
  isTerminal: boolean;
  /** Monotonic, in milliseconds. */
  now?: () => number;
};

const OFTEN_MS = 1_000;
const SELDOM_MS = 60_000;
const CLEAR_LINE = '\r\u001B[K';

/** Says how far a run of tests is: in a line that is renewed on a terminal, elsewhere once a minute. What failed it says at once. */
export class Progress implements Disposable {
  readonly #options: Required<ProgressOptions>;
  readonly #began: number;
  readonly #timer: NodeJS.Timeout;
  readonly #running = new Set<string>();
  #ended = 0;
  #passed = 0;
  #failed = 0;

  constructor({ now = () => performance.now(), ...options }: ProgressOptions) {
    this.#options = { now, ...options };
    this.#began = now();
    this.#timer = setInterval(() => this.tell(), options.isTerminal ? OFTEN_MS : SELDOM_MS).unref();
  }

  note(event: FileEvent): void {
    if (event.kind === 'begun') return void this.#running.add(event.path);
    this.#running.delete(event.path);
    this.#ended += 1;
    this.#passed += event.passed;
    this.#failed += event.failed;
    if (event.failure !== '') this.say(`FAILED ${event.path}\n${event.failure}`);
  }

  /** A line that stays. */
  say(line: string): void {
    const { write, isTerminal } = this.#options;
    write(`${isTerminal ? CLEAR_LINE : ''}waybell: ${line}\n`);
    if (isTerminal) this.tell();
  }

  /** How far it is now. */
  tell(): void {
    const { write, isTerminal, files, now } = this.#options;
    const seconds = Math.round((now() - this.#began) / 1_000);
    const [first = 'nothing', ...others] = this.#running;
    const beside = others.length === 0 ? '' : ` and ${others.length} more`;
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} FAILED`;
    const line = `waybell: ${seconds} s: ${this.#ended} of ${files} test files, ${this.#passed} passed${failed}; now ${first}${beside}`;
    write(isTerminal ? `${CLEAR_LINE}${line}` : `${line}\n`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#options.isTerminal) this.#options.write(CLEAR_LINE);
  }
}
