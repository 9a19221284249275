import type { ExportOptions, Tracing } from './export-spans.ts';
import { readTracing, type TracingSettings } from './read-tracing.ts';

export type TracingOptions = Omit<ExportOptions, 'plan'> & { settings: TracingSettings };

/**
 * Starts tracing. Returns undefined, and loads nothing of OpenTelemetry's SDK, if no endpoint is set or settings switch traces
 * off. Never throws: errors are logged, and deliveries go on without traces.
 */
export async function startTracing({ settings, ...options }: TracingOptions): Promise<Tracing | undefined> {
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
