/**
 * What every process does at its start: opens log, metrics, readiness, the HTTP server for health and shutdown; starts tracing, which is
 * loaded only if it is on; removes roots that nobody can trust; and checks the version of Node.js.
 */
import { createHash } from 'node:crypto';
import { flushCompileCache } from 'node:module';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import type { Tracer } from '@opentelemetry/api';
import { constantsChangedHere, mistypedHere } from './environment.ts';
import type { ExportOptions, Tracing } from './export-spans.ts';
import { goneSettings } from './gone-settings.ts';
import { serveHealth } from './health.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics, openMetrics, type Metrics } from './metrics.ts';
import { readTracing, type TracingSettings } from './read-tracing.ts';
import { Readiness, watchReadiness } from './readiness.ts';
import { logFatalErrors, Shutdown } from './shutdown.ts';

/** The parts that every process has from its start: log, metrics, an HTTP server for health, and shutdown. */
export type ProcessParts = AsyncDisposable & {
  log: Log;
  metrics: Metrics;
  readiness: Readiness;
  shutdown: Shutdown;
  /** Records spans; absent if tracing is off. */
  tracer?: Tracer;
};

export type ProcessSettings = TracingSettings & {
  LOG_LEVEL: string;
  HOST: string;
  HEALTH_PORT: number;
  SHUTDOWN_GRACE: number;
};

/** `settings`: all that the service reads. Warns of variables that are none of them but look like one. */
export async function startProcess(service: string, settings: ProcessSettings): Promise<ProcessParts> {
  const log = createLog({ service, level: settings.LOG_LEVEL });
  logFatalErrors(log);
  const changed = constantsChangedHere();
  if (Object.keys(changed).length > 0) log.warn({ changed }, 'constants.changed');
  for (const { name, setting } of mistypedHere(Object.keys(settings).filter((each) => !(each in goneSettings))))
    log.warn({ name, nearest: setting }, 'setting.unknown');
  const shutdown = new Shutdown({ graceMs: settings.SHUTDOWN_GRACE, log });
  const metrics = createMetrics(service);
  const readiness = new Readiness(log);
  readiness.watch(() => (shutdown.begun.aborted ? ['shutdown'] : []));
  const rootsRemoved = removePublicRoots();
  const trouble = nodeTrouble();
  if (trouble !== null) readiness.watch(() => [trouble]);
  watchReadiness(() => readiness.waitingFor(), metrics);
  const tracing = await startTracing({ service, settings, log, metrics });
  const health = await serveHealth({
    host: settings.HOST,
    port: settings.HEALTH_PORT,
    readiness,
    metrics,
    ...(tracing && { openMetrics: () => openMetrics(metrics, { service }) }),
  });
  log.info({ healthPort: health.port, ...(rootsRemoved.length > 0 && { rootsRemoved }) }, 'process.started');
  // Written now, if NODE_COMPILE_CACHE names a folder: a killed process would never write it.
  flushCompileCache();
  return {
    log,
    metrics,
    readiness,
    shutdown,
    ...(tracing && { tracer: tracing.tracer }),
    async [Symbol.asyncDispose]() {
      await tracing?.[Symbol.asyncDispose]();
      await health[Symbol.asyncDispose]();
      shutdown.ended();
    },
  };
}

/**
 * Starts tracing. Returns undefined, and loads nothing of OpenTelemetry's SDK, if no endpoint is set or settings switch traces
 * off. Never throws: errors are logged, and deliveries go on without traces.
 */
export async function startTracing({
  settings,
  ...options
}: Omit<ExportOptions, 'plan'> & { settings: TracingSettings }): Promise<Tracing | undefined> {
  const { plan, misunderstood } = readTracing(settings);
  for (const { name, why } of misunderstood) options.log.warn({ name, why }, 'setting.misunderstood');
  if (plan === undefined) return undefined;
  try {
    const { exportSpans } = await import('./export-spans.ts');
    return exportSpans({ ...options, plan });
  } catch (error) {
    // OpenTelemetry's packages read environment variables of their own.
    options.log.warn({ err: error }, 'traces.not-started');
    return undefined;
  }
}

/** Roots that Mozilla removed because their keys are public, by the SHA-256 of the certificate. */
const PUBLIC_ROOTS: Readonly<Record<string, string>> = {
  '125609aa301da0a249b97a8239cb6a34216f44dcac9f3954b14292f2e8c8608f': 'emSign Root CA - C1',
  '86a1ecba089c4a8d3bbe2734c612ba341d813e043cf9e8a862cd5c57a36bbe6b': 'emSign ECC Root CA - G3',
  bc4d809b15189d78db3e1d8cf4f9726a795da1643ca5f1358e1ddb0edc0d7eb3: 'emSign ECC Root CA - C3',
};

/**
 * Removes roots whose keys are public from those that this process trusts, be they of Node.js, of NODE_EXTRA_CA_CERTS or of the
 * machine: whoever has such a key can pass for any receiver, and gets its tokens. Returns their names. Secure contexts that exist
 * already keep them.
 */
function removePublicRoots(): string[] {
  const trusted = getCACertificates('default');
  const nameOf = (pem: string): string | undefined => PUBLIC_ROOTS[fingerprintOf(pem)];
  const found = trusted.flatMap((pem) => nameOf(pem) ?? []);
  if (found.length > 0) setDefaultCACertificates(trusted.filter((pem) => nameOf(pem) === undefined));
  return [...new Set(found)];
}

const fingerprintOf = (pem: string): string =>
  createHash('sha256')
    .update(Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64'))
    .digest('hex');

/** The oldest version of each line of Node.js that is trusted. Lines between and before them end before they are fixed. */
export const LEAST_NODE = ['24.22.1', '26.12.1'] as const;

/** Names what is wrong with a version of Node.js; null if nothing is known. */
export function nodeTrouble(version: string = process.versions.node): string | null {
  if (isTrustedNode(version)) return null;
  return `node: ${version} has known holes in TLS, and trusts roots whose keys are public: run ${LEAST_NODE.join(' or ')}, or newer ones of these lines`;
}

/** Whether a version is of a line that is trusted, and new enough in it. */
export function isTrustedNode(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = numbersOf(version);
  const [newestLine = 0] = numbersOf(LEAST_NODE[1]);
  if (major > newestLine) return true;
  return LEAST_NODE.map(numbersOf).some(
    ([line, least = 0, leastPatch = 0]) =>
      major === line && (minor > least || (minor === least && patch >= leastPatch)),
  );
}

const numbersOf = (version: string): number[] => version.split(/[.-]/, 3).map(Number);

export const HEAP_GROWTH = '--heap-growing-percent=100';

/**
 * Lets the heap double before V8 collects all of it again. A busy router or delivery log has many objects that die old, and V8 would
 * collect them every second. Not for deliverers: with the largest bodies for 10,000 endpoints they would need more than is promised.
 * V8 reads it at each collection.
 */
export function growHeap(): void {
  setFlagsFromString(HEAP_GROWTH);
}
