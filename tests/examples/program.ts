import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { until } from '@waybell/runtime/testing/until';

/** A program that runs until it is disposed of, and the lines that it printed. */
export class Program implements AsyncDisposable {
  readonly lines: string[] = [];
  errors = '';
  readonly #child: ChildProcessWithoutNullStreams;

  constructor([command, ...args]: readonly [string, ...string[]], env: Record<string, string>) {
    this.#child = spawn(command, args, { env: { ...process.env, ...env } });
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.lines.push(line));
    this.#child.stderr.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.#child.on('error', (error) => (this.errors += error.message));
    this.#child.stdin.on('error', () => undefined);
  }

  write(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** Resolves with the first line that matches, whenever it came. */
  async untilPrinted(expected: RegExp): Promise<string> {
    return until(`it prints ${expected}`, () => {
      const line = this.lines.find((each) => expected.test(each));
      if (line === undefined) throw new Error(this.errors || 'it printed nothing of that kind');
      return line;
    });
  }

  /** Resolves with the code that it ended with by itself. */
  async untilEnded(): Promise<number> {
    const { code } = await until('it ends', () => this.#child.exitCode !== null && { code: this.#child.exitCode });
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}
