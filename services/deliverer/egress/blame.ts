import type { Clock } from '@waybell/runtime/clock';
import type { Call, CallEndpoint, Called } from '../request/call-endpoint.ts';
import { hostOf } from '../endpoints/endpoint.ts';
import type { Egress } from './egress.ts';

export type BlameOptions = {
  callEndpoint: (call: Call) => Promise<Called>;
  egress: Pick<Egress, 'answered' | 'isOurs'>;
  clock: Pick<Clock, 'now'>;
};

/** Makes the request, and says of one that failed whether that is the receiver's affair. */
export function blaming({ callEndpoint, egress, clock }: BlameOptions): CallEndpoint {
  return async (call) => {
    const startedAt = clock.now();
    const { lostAt, ...answer } = await callEndpoint(call);
    const origin = hostOf(call.callbackUrl);
    if (answer.status !== undefined) egress.answered(origin, answer.ip);
    if (lostAt === undefined) return answer;
    const wasHeld = call.delivery.parked?.why === 'egress';
    const address = answer.reason === 'blocked_address' ? undefined : answer.ip;
    const lost = { origin, address, startedAt, wasSent: lostAt === 'sent', isLast: call.isLast, wasHeld };
    return lostAt === 'here' || (await egress.isOurs(lost)) ? { ...answer, isOurs: true } : answer;
  };
}
