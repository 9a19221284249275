import type { Tracer } from '@opentelemetry/api';
import { flushCompileCache } from 'node:module';
import { constantsChangedHere, mistypedHere } from './environment.ts';
import { goneSettings } from './gone-settings.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { nodeTrouble, removePublicRoots } from './node-trust.ts';
import { watchReadiness } from './readiness-metrics.ts';
import { serveHealth } from './health.ts';
import { openMetrics } from './open-metrics.ts';
import { Readiness } from './readiness.ts';
import { logFatalErrors, Shutdown } from './shutdown.ts';
import type { TracingSettings } from './read-tracing.ts';
import { startTracing } from './tracing.ts';

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

/** `settings`: all that the service reads. Warns of variables that look like one of them and are none. */
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
