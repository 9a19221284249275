import type { Answer } from '@waybell/line/outcomes';
import type { FailureReason } from '@waybell/line/reasons';
import type { ResponseSpeed } from './endpoint.ts';

const TIMEOUTS: ReadonlySet<string> = new Set<FailureReason>([
  'connect_timeout',
  'handover_timeout',
  'response_timeout',
]);

/** An ordinary failure is an answer too; only timeouts are none. */
export function responseSpeed({ durationMs, reason }: Answer, slowMs: number): ResponseSpeed {
  if (reason !== undefined && TIMEOUTS.has(reason)) return 'hung';
  return durationMs <= slowMs ? 'quick' : 'slow';
}
