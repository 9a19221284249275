import type { Answer } from '@waybell/line/outcomes';
import type { FailureReason } from '@waybell/line/reasons';
import type { ResponseSpeed } from './endpoint.ts';

const TIMEOUTS: ReadonlySet<string> = new Set<FailureReason>([
  'connect_timeout',
  'handover_timeout',
  'response_timeout',
]);

export const isTimeout = (reason: FailureReason | undefined): boolean => reason !== undefined && TIMEOUTS.has(reason);

/** An ordinary failure is an answer too; only timeouts are none, be it of the receiver or of its token URL. */
export function responseSpeed(
  { durationMs, reason, isHung }: Answer & { isHung?: true },
  slowMs: number,
): ResponseSpeed {
  if (isHung || isTimeout(reason)) return 'hung';
  return durationMs <= slowMs ? 'quick' : 'slow';
}
