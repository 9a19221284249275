import { createLog, type Log } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { serveHealth } from './health.ts';
import { Readiness } from './readiness.ts';
import { logFatalErrors } from './shutdown.ts';

/** What every process has from its first moment on: a log, metrics, and an address that tells how it is. */
export type ProcessParts = AsyncDisposable & { log: Log; metrics: Metrics; readiness: Readiness };

export async function startProcess(
  service: string,
  settings: { LOG_LEVEL: string; HEALTH_HOST: string; HEALTH_PORT: number },
): Promise<ProcessParts> {
  const log = createLog({ service, level: settings.LOG_LEVEL });
  logFatalErrors(log);
  const metrics = createMetrics(service);
  const readiness = new Readiness(log);
  const health = await serveHealth({ host: settings.HEALTH_HOST, port: settings.HEALTH_PORT, readiness, metrics });
  log.info({ healthPort: health.port }, 'process.started');
  return {
    log,
    metrics,
    readiness,
    async [Symbol.asyncDispose]() {
      await health[Symbol.asyncDispose]();
      log.info('process.stopped');
    },
  };
}
