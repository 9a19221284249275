import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { freePort } from '@waybell/stack/ports';
import type { SentSpan } from '@waybell/runtime/testing/read-spans';
import { until } from '@waybell/runtime/testing/until';
import { buildCollector } from './build-collector.ts';
import { readJsonSpans } from './read-json-spans.ts';

/** OpenTelemetry's collector as a process, that writes what it takes to a file. */
export class RealCollector implements AsyncDisposable {
  readonly url: string;
  readonly #program: string;
  readonly #file: string;
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor({ program, port, file }: { program: string; port: number; file: string }) {
    this.url = `http://127.0.0.1:${port}`;
    this.#program = program;
    this.#port = port;
    this.#file = file;
  }

  static async start(file: string): Promise<RealCollector> {
    const [program, port] = [await buildCollector(), await freePort({ taken: new Set() })];
    const collector = new RealCollector({ program, port, file });
    await collector.start();
    return collector;
  }

  async start(): Promise<void> {
    const config = {
      receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${this.#port}` } } } },
      exporters: { file: { path: this.#file } },
      service: {
        telemetry: { metrics: { level: 'none' }, logs: { level: 'warn' } },
        pipelines: { traces: { receivers: ['otlp'], exporters: ['file'] } },
      },
    };
    const collector = spawn(this.#program, [`--config=yaml:${JSON.stringify(config)}`], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.#process = collector;
    // A GET is answered, if only with a refusal, once it listens.
    await until('the collector listens, or ended', () =>
      fetch(`${this.url}/v1/traces`).then(
        () => true,
        () => collector.exitCode !== null,
      ),
    );
    if (collector.exitCode !== null) throw new Error('the collector ended; it said why');
  }

  async kill(): Promise<void> {
    if (this.#process === undefined || this.#process.exitCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }

  get spans(): SentSpan[] {
    if (!existsSync(this.#file)) return [];
    const lines = readFileSync(this.#file, 'utf8').split('\n').slice(0, -1);
    return lines.flatMap((line) => readJsonSpans(JSON.parse(line)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
