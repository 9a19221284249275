import { Counter, Histogram } from 'prom-client';
import type { Metrics } from '@waybell/runtime/metrics';

/** Metrics of both listeners. */
export type HttpMetrics = ReturnType<typeof httpMetrics>;

export function httpMetrics(metrics: Metrics) {
  return {
    requestSeconds: new Histogram({
      name: 'waybell_http_request_duration_seconds',
      help: 'Time of a request to the API',
      labelNames: ['method', 'route', 'status'],
      registers: [metrics],
    }),
    /** A client that finds no connection is not answered: only this figure shows it. */
    connectionsRefused: new Counter({
      name: 'waybell_http_connections_refused_total',
      help: 'Connections closed at once, as too many were open',
      registers: [metrics],
    }),
  };
}
