import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { readEnvironment } from './environment.ts';
import { createMetrics } from './metrics.ts';
import { HEAP_GROWTH, nodeTrouble, startTracing } from './process-parts.ts';
import { tracingSettings } from './settings.ts';
import { SpanCollector } from './testing/span-collector.ts';
import { until } from './testing/until.ts';
import { contextOf, traceparentOf } from './traceparent.ts';

const PARTS = new URL('process-parts.ts', import.meta.url).href;

/** Ends when its input does, once it was told to stop. */
const CODE = `import { startProcess } from '${PARTS}';
  const settings = { LOG_LEVEL: 'info', HOST: '127.0.0.1', HEALTH_PORT: 0, SHUTDOWN_GRACE: 600_000, OTEL_EXPORTER_OTLP_ENDPOINT: '' };
  await using parts = await startProcess('test', settings);
  const told = parts.shutdown.untilBegun();
  parts.log.info('working');
  await told;
  await new Promise((resolve) => process.stdin.once('end', resolve).resume());`;

describe('a process that is told to stop', () => {
  test('is not ready from then on, lives and says so until all else is closed, and ends well', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', CODE], { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const said: { msg: string; healthPort?: number }[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line)));
    await until('it works', () => said.some(({ msg }) => msg === 'working'));
    const port = said.find(({ msg }) => msg === 'process.started')?.healthPort;
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    expect((await get('/readyz')).status).toBe(200);
    child.kill('SIGTERM');
    const notReady = await until('it is not ready', async () => {
      const answer = await get('/readyz');
      return answer.status === 503 && answer;
    });
    expect(await notReady.json()).toEqual({ ready: false, waitingFor: ['shutdown'] });
    expect((await get('/livez')).status).toBe(200);
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
    expect(said.map(({ msg }) => msg)).toEqual(['process.started', 'working', 'shutdown.begun', 'process.stopped']);
  });
});

describe('a process that finds a mistyped setting in its environment', () => {
  test('warns of it with the nearest name', async () => {
    const env = { ...process.env, HEALTH_PROT: '1' };
    const child = spawn(process.execPath, ['--input-type=module', '-e', CODE], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(JSON.parse(line)).toMatchObject({ msg: 'setting.unknown', name: 'HEALTH_PROT', nearest: 'HEALTH_PORT' });
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});

describe('a process whose constants are changed, as tests do,', () => {
  test('says so', async () => {
    const env = { ...process.env, WAYBELL_TEST_LISTENER_LIFE: '1s' };
    const child = spawn(process.execPath, ['--input-type=module', '-e', CODE], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(JSON.parse(line)).toMatchObject({ msg: 'constants.changed', changed: { LISTENER_LIFE: '1s' } });
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});

describe('nodeTrouble', () => {
  test.each(['22.23.5', '24.22.0', '25.9.0', '26.10.0', '26.12.0'])('names Node %s', (version) => {
    expect(nodeTrouble(version)).toMatch(`node: ${version} `);
  });

  test.each(['24.22.1', '24.23.0', '26.12.1', '26.13.0', '27.0.0', '27.0.0-nightly'])('trusts Node %s', (version) => {
    expect(nodeTrouble(version)).toBeNull();
  });

  test('finds nothing wrong with the Node that runs this', () => {
    expect(nodeTrouble()).toBeNull();
  });
});

const WITH_TRUST = `const { getCACertificates } = await import('node:tls');
  const count = () => getCACertificates('default').length;
  const before = count();
  ${CODE.replace("parts.log.info('working');", "parts.log.info({ before, after: count() }, 'working');")}`;

describe('a process that is given a root whose key is public', () => {
  test('does not trust it, and says so', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'roots-'));
    const path = join(folder, 'ca.pem');
    writeFileSync(path, `# a bundle of a machine\r\n${PUBLIC_ROOT.replaceAll('\n', '\r\n')}`);
    const child = spawn(process.execPath, ['--input-type=module', '-e', WITH_TRUST], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: path },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said: { msg: string; before?: number; after?: number; rootsRemoved?: string[] }[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line)));
    await until('it works', () => said.some(({ msg }) => msg === 'working'));
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
    const [started, { before = 0, after = 0 } = {}] = said;
    expect(started).toMatchObject({ msg: 'process.started', rootsRemoved: ['emSign ECC Root CA - C3'] });
    expect(before - after).toBe(1);
  });
});

const PUBLIC_ROOT = [
  '-----BEGIN CERTIFICATE-----',
  'MIICKzCCAbGgAwIBAgIKe3G2gla4EnycqDAKBggqhkjOPQQDAzBaMQswCQYDVQQGEwJVUzETMBEGA1UECxMKZW1TaWduIFBLSTEUMBIGA1UEChMLZU11ZGhy',
  'YSBJbmMxIDAeBgNVBAMTF2VtU2lnbiBFQ0MgUm9vdCBDQSAtIEMzMB4XDTE4MDIxODE4MzAwMFoXDTQzMDIxODE4MzAwMFowWjELMAkGA1UEBhMCVVMxEzAR',
  'BgNVBAsTCmVtU2lnbiBQS0kxFDASBgNVBAoTC2VNdWRocmEgSW5jMSAwHgYDVQQDExdlbVNpZ24gRUNDIFJvb3QgQ0EgLSBDMzB2MBAGByqGSM49AgEGBSuB',
  'BAAiA2IABP2lYa57JhAd6bciMK4G9IGzsUJxlTm801Ljr6/58pc1kjZGDoeVjbk5Wum739D+yAdBPLtVb4OjavtisIGJAnB9SMVK4+kiVCJNk7tCDK93nCOm',
  'fddhEc5lx/h//vXyqaNCMEAwHQYDVR0OBBYEFPtaSNCAIEDyqOkAB2kZd6fmw/TPMA4GA1UdDwEB/wQEAwIBBjAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49',
  'BAMDA2gAMGUCMQC02C8Cif22TGK6Q04ThHK1rt0c3ta13FaPWEBaLd4gTCKDypOofu4SQMfWh0/434UCMBwUZOR8loMRnLDRWmFLpg9J0wD8ofzkpf9/rdcw',
  '0Md3f76BB1UwUCAU9Vc4CqgxUQ==',
  '-----END CERTIFICATE-----',
].join('\n');

test('this Node knows the flag for the growth of the heap', () => {
  expect(execFileSync(process.execPath, ['--v8-options']).toString()).toContain(HEAP_GROWTH.split('=')[0]);
});

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
      const { tracingSettings } = await import('${url('settings.ts')}');
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
