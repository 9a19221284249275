import type { Clock } from '@waybell/runtime/clock';
import type { Egress } from '../egress/egress.ts';
import { hostOf } from '../endpoints/endpoint.ts';
import type { AttemptRequest, OnAttempted } from './attempt.ts';
import type { CallEndpoint } from './call-endpoint.ts';

export type JudgeOwnFaultOptions = {
  callEndpoint: (request: AttemptRequest, onEnd: OnAttempted) => void;
  egress: Pick<Egress, 'answered' | 'isOurs'>;
  clock: Pick<Clock, 'now'>;
};

/** Makes the request. If it fails, judges whether the fault is ours or the receiver's. */
export function judgeOwnFault({ callEndpoint, egress, clock }: JudgeOwnFaultOptions): CallEndpoint {
  return (request, onEnd) => {
    const startedAt = clock.now();
    callEndpoint(request, (ended) => {
      if (ended instanceof Error) return onEnd(ended);
      const origin = hostOf(request.callbackUrl);
      if (ended.status !== undefined) egress.answered(origin, ended.ip);
      if (ended.lostAt === undefined) return onEnd(ended);
      const { lostAt, ...result } = ended;
      if (lostAt === 'here') return onEnd({ ...result, isOurs: true });
      const wasHeld = request.delivery.waited?.why === 'egress';
      const address = result.reason === 'blocked_address' ? undefined : result.ip;
      const failed = { origin, address, startedAt, wasSent: lostAt === 'sent', isLast: request.isLast, wasHeld };
      egress.isOurs(failed).then((isOurs) => onEnd(isOurs ? { ...result, isOurs } : result), onEnd);
    });
  };
}
