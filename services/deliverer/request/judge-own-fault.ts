import type { Clock } from '@waybell/runtime/clock';
import type { Egress } from '../egress/egress.ts';
import { hostOf } from '../endpoints/endpoint.ts';
import type { AttemptRequest, AttemptResult } from './attempt.ts';
import type { CallEndpoint } from './call-endpoint.ts';

export type JudgeOwnFaultOptions = {
  callEndpoint: (request: AttemptRequest) => Promise<AttemptResult>;
  egress: Pick<Egress, 'answered' | 'isOurs'>;
  clock: Pick<Clock, 'now'>;
};

/** Makes the request. If it fails, judges whether the fault is ours or the receiver's. */
export function judgeOwnFault({ callEndpoint, egress, clock }: JudgeOwnFaultOptions): CallEndpoint {
  return async (request) => {
    const startedAt = clock.now();
    const { lostAt, ...result } = await callEndpoint(request);
    const origin = hostOf(request.callbackUrl);
    if (result.status !== undefined) egress.answered(origin, result.ip);
    if (lostAt === undefined) return result;
    const wasHeld = request.delivery.parked?.why === 'egress';
    const address = result.reason === 'blocked_address' ? undefined : result.ip;
    const failed = { origin, address, startedAt, wasSent: lostAt === 'sent', isLast: request.isLast, wasHeld };
    return lostAt === 'here' || (await egress.isOurs(failed)) ? { ...result, isOurs: true } : result;
  };
}
