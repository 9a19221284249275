import type { Clock } from '@waybell/runtime/clock';
import type { Egress, FailedAttempt } from '../egress/egress.ts';
import { hostOf } from '../endpoints/endpoint.ts';
import type { AttemptRequest, AttemptResult, OnAttempted } from './attempt.ts';
import type { CallEndpoint } from './call-endpoint.ts';
import type { CallTokenUrl } from './call-token-url.ts';

export type JudgeOwnFaultOptions = {
  callEndpoint: (request: AttemptRequest, onEnd: OnAttempted) => void;
  egress: Pick<Egress, 'answered' | 'isOurs'>;
  clock: Pick<Clock, 'now'>;
};

type JudgeTokenUrlOptions = Omit<JudgeOwnFaultOptions, 'callEndpoint'> & { callTokenUrl: CallTokenUrl };

/** Makes the request. If it fails, judges whether the fault is ours or the receiver's. */
export function judgeOwnFault({ callEndpoint, egress, clock }: JudgeOwnFaultOptions): CallEndpoint {
  return (request, onEnd) => {
    const startedAt = clock.now();
    callEndpoint(request, (ended) => {
      if (ended instanceof Error) return onEnd(ended);
      const { callbackUrl, delivery, isLast } = request;
      const wasHeld = delivery.waited?.why === 'egress';
      const judged = judge(ended, { origin: hostOf(callbackUrl), startedAt, isLast, wasHeld }, egress);
      if (judged instanceof Promise) judged.then(onEnd, onEnd);
      else onEnd(judged);
    });
  };
}

/** Makes the request for a token, and judges as thoroughly as of a last attempt: several deliveries may wait for it. */
export function judgeTokenUrl({ callTokenUrl, egress, clock }: JudgeTokenUrlOptions): CallTokenUrl {
  return async (request) => {
    const made = { origin: hostOf(request.url), startedAt: clock.now(), isLast: true, wasHeld: false };
    const { result, body } = await callTokenUrl(request);
    return { result: await judge(result, made, egress), body };
  };
}

type RequestEnded = Omit<FailedAttempt, 'address' | 'wasSent'>;

/** Returns at once what needs no judgement of others. */
function judge(
  ended: AttemptResult,
  made: RequestEnded,
  egress: JudgeOwnFaultOptions['egress'],
): AttemptResult | Promise<AttemptResult> {
  if (ended.status !== undefined) egress.answered(made.origin, ended.ip);
  if (ended.lostAt === undefined) return ended;
  const { lostAt, ...result } = ended;
  if (lostAt === 'here') return { ...result, isOurs: true };
  const address = result.reason === 'blocked_address' ? undefined : result.ip;
  const failed = { ...made, address, wasSent: lostAt === 'sent' };
  return egress.isOurs(failed).then((isOurs) => (isOurs ? { ...result, isOurs } : result));
}
