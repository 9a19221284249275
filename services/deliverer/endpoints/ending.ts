import type { Answer } from '@waybell/line/outcomes';
import type { FailureReason } from '@waybell/line/reasons';
import type { Ending } from './endpoint.ts';

const TIMEOUTS: ReadonlySet<string> = new Set<FailureReason>([
  'connect_timeout',
  'handover_timeout',
  'response_timeout',
]);

/** Ordinary failures are answers, also those that come late. */
export function endingOf({ durationMs, reason }: Answer, slowMs: number): Ending {
  if (reason !== undefined && TIMEOUTS.has(reason)) return 'hung';
  return durationMs <= slowMs ? 'quick' : 'slow';
}
