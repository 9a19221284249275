import { spawn, type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { freePort } from '@waybell/stack/ports';
import type { SentSpan } from '@waybell/runtime/testing/read-spans';
import { until } from '@waybell/runtime/testing/until';
import { createHash } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '@waybell/stack/stack-folder';

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

const SOURCES = join(import.meta.dirname, 'collector');
const CACHE = join(cacheFolder(), 'collector');

/**
 * Builds the collector, of pinned versions, where it was not built before; resolves with its path. Takes minutes the first
 * time. Throws where there is no Go.
 */
async function buildCollector(): Promise<string> {
  const identity = createHash('sha256');
  for (const name of ['main.go', 'go.sum']) identity.update(readFileSync(join(SOURCES, name)));
  const built = join(CACHE, identity.digest('hex').slice(0, 16));
  if (existsSync(built)) return built;
  await mkdir(CACHE, { recursive: true });
  const unfinished = `${built}.${process.pid}`;
  const args = ['build', '-mod=readonly', '-trimpath', '-ldflags=-s -w', '-o', unfinished, '.'];
  await promisify(execFile)('go', args, { cwd: SOURCES });
  await rename(unfinished, built);
  return built;
}

type Value = {
  stringValue?: string;
  intValue?: string;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values?: Value[] };
};
type Attributes = { key: string; value: Value }[];
type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: Attributes;
  status?: { code?: number };
};
/** A request in OTLP's JSON. */
type JsonTraces = {
  resourceSpans: { resource: { attributes: Attributes }; scopeSpans: { spans: Span[] }[] }[];
};

function readJsonSpans({ resourceSpans }: JsonTraces): SentSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => spanOf(span, service)));
  });
}

function spanOf(span: Span, service: string): SentSpan {
  const { traceId, spanId, parentSpanId: parent = '', name, kind, attributes = [], status } = span;
  const milliseconds = (nanoseconds: string) => Number(BigInt(nanoseconds) / 1_000n) / 1_000;
  return {
    service,
    traceId,
    spanId,
    parent,
    name,
    kind,
    startMs: milliseconds(span.startTimeUnixNano),
    endMs: milliseconds(span.endTimeUnixNano),
    attributes: attributesOf(attributes),
    isError: status?.code === 2,
  };
}

function attributesOf(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf({ stringValue, intValue, doubleValue, boolValue, arrayValue }: Value): unknown {
  if (arrayValue !== undefined) return (arrayValue.values ?? []).map(valueOf);
  return stringValue ?? doubleValue ?? boolValue ?? Number(intValue);
}
