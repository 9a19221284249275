import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { createMetrics } from './metrics.ts';
import { readEnvironment } from './environment.ts';
import { SpanCollector } from './testing/span-collector.ts';
import { until } from './testing/until.ts';
import { contextOf, traceparentOf } from './traceparent.ts';
import { startTracing } from './process-parts.ts';
import { tracingSettings } from './settings.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SAMPLED = `00-${TRACE}-b7ad6b7169203331-01`;
const UNSAMPLED = `00-${TRACE}-b7ad6b7169203331-00`;

/** Starts tracing with these settings; returns what it started and logged. */
async function start(env: Record<string, string>) {
  const lines = new PassThrough();
  const metrics = createMetrics('test');
  const settings = readEnvironment(tracingSettings, env);
  const started = await startTracing({ service: 'test', settings, log: pino(lines), metrics });
  return { started, metrics, logged: () => (lines.read() as Buffer | null)?.toString() ?? '' };
}

/** Traces as a process with these settings makes them. */
async function tracing(env: Record<string, string>) {
  const { started: made, metrics, logged } = await start(env);
  if (made === undefined) throw new Error('there are no traces');
  const counted = async (result: string) => {
    const { values = [] } = (await metrics.getSingleMetric('waybell_spans_total')?.get()) ?? {};
    return values.find(({ labels }) => labels['result'] === result)?.value ?? 0;
  };
  return { ...made, close: () => made[Symbol.asyncDispose](), logged, counted };
}

/** Returns whether a child of that span is recorded. */
async function sampled(sampler: Record<string, string>, traceparent: string | undefined): Promise<boolean> {
  const { tracer, close } = await tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', ...sampler });
  const recorded = tracer.startSpan('s', {}, contextOf(traceparent)).isRecording();
  await close();
  return recorded;
}

describe('spans', () => {
  test('go to the collector with the headers and the names that settings give', async () => {
    await using collector = await SpanCollector.start();
    const { tracer, close, counted } = await tracing({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20s3cret, x-team = freight',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=as-it-is-named',
    });
    const span = tracer.startSpan('a', { attributes: { yes: true, number: 7, list: ['x'] } }, contextOf(SAMPLED));
    span.end();
    await close();
    expect(collector.spans).toMatchObject([
      {
        service: 'as-it-is-named',
        traceId: TRACE,
        parent: 'b7ad6b7169203331',
        name: 'a',
        attributes: { yes: true, number: 7, list: ['x'] },
      },
    ]);
    expect(traceparentOf(span)).toBe(`00-${TRACE}-${collector.spans[0]?.spanId}-01`);
    expect(collector.headers[0]).toMatchObject({ authorization: 'Bearer s3cret', 'x-team': 'freight' });
    expect(await counted('sent')).toBe(1);
  });

  test('that the collector does not take are counted, and said once', async () => {
    await using collector = await SpanCollector.start();
    collector.status = 400;
    const { tracer, close, logged, counted } = await tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    for (let count = 0; count < 1_024; count += 1) tracer.startSpan('s').end();
    await until('both batches came to nothing', async () => (await counted('failed')) === 1_024);
    await close();
    expect(logged().match(/spans\.not-sent/g)).toHaveLength(1);
  });

  test('beyond those that may wait are dropped', async () => {
    await using collector = await SpanCollector.start();
    collector.status = 400;
    const { tracer, close, counted } = await tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    for (let count = 0; count < 5_000; count += 1) tracer.startSpan('s').end();
    expect(await counted('dropped')).toBe(5_000 - 4_096);
    await close();
    await until('none is tried any more', async () => (await counted('failed')) === 4_096);
  });

  test.each([
    [{}, SAMPLED, true],
    [{}, UNSAMPLED, false],
    [{}, undefined, true],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, SAMPLED, true],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, undefined, false],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, UNSAMPLED, true],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, SAMPLED, false],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, SAMPLED, false],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, SAMPLED, true],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, undefined, false],
  ])('with %j, of a trace that is %s, are made: %p', async (settings, traceparent, isMade) => {
    expect(await sampled(settings, traceparent)).toBe(isMade);
  });
});

describe('traces that cannot be', () => {
  test('are said once for each variable, and are off', async () => {
    const { started, logged } = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    });
    expect(started).toBeUndefined();
    expect(JSON.parse(logged())).toMatchObject({
      msg: 'setting.misunderstood',
      name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
      why: expect.stringContaining('no traces are made'),
    });
  });
});

describe('a process', () => {
  /** Lists the files of OpenTelemetry that a process has loaded, without its API package. */
  function loaded(env: Record<string, string>): string[] {
    const url = (file: string) => new URL(file, import.meta.url).href;
    const code = `import { registerHooks } from 'node:module';
      const loaded = new Set();
      registerHooks({ load(url, context, next) { loaded.add(url); return next(url, context); } });
      const { readEnvironment } = await import('${url('environment.ts')}');
      const { tracingSettings } = await import('${url('tracing-settings.ts')}');
      const { startProcess } = await import('${url('process-parts.ts')}');
      const tracing = readEnvironment(tracingSettings, ${JSON.stringify(env)});
      await startProcess('test', { LOG_LEVEL: 'info', HOST: '127.0.0.1', HEALTH_PORT: 0, SHUTDOWN_GRACE: 1, ...tracing });
      process.stdout.write(JSON.stringify({ packages: [...loaded] }) + '\\n');
      process.exit();`;
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    const line = said.split('\n').find((each) => each.includes('"packages"')) ?? '{}';
    const { packages }: { packages: string[] } = JSON.parse(line);
    const names = packages.flatMap(
      (each) => /node_modules\/(@opentelemetry\/[^/]+)/.exec(each.split('.pnpm/').at(-1) ?? '')?.[1] ?? [],
    );
    return [...new Set(names)].filter((name) => name !== '@opentelemetry/api');
  }

  test('without a collector loads nothing of what makes spans', () => {
    expect(loaded({})).toEqual([]);
  });

  test('that is told to make no traces loads nothing of it either', () => {
    expect(loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' })).toEqual([]);
  });

  test('with a collector does', () => {
    expect(loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })).toContain('@opentelemetry/sdk-trace');
  });
});
