import type { Answer } from '@waybell/line/outcomes';
import type { FailureReason } from '@waybell/line/reasons';
import type { Ending } from './window.ts';

const TIMEOUTS: ReadonlySet<string> = new Set<FailureReason>([
  'connect_timeout',
  'handover_timeout',
  'response_timeout',
]);

/** Ordinary failures are answers: one that comes quickly holds up nobody. One that comes late is as good as none. */
export function endingOf(
  { isDelivered, durationMs, reason }: Answer & { isDelivered: boolean },
  slowMs: number,
): Ending {
  if (reason !== undefined && TIMEOUTS.has(reason)) return 'hung';
  if (durationMs <= slowMs) return 'quick';
  return isDelivered ? 'slow' : 'hung';
}
