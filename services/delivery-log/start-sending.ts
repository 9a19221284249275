import type { Broker } from '@waybell/line/broker/connect-broker';
import { publishUntilConfirmed } from '@waybell/line/broker/publish-until-confirmed';
import { systemClock, type Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { repeatedly } from '@waybell/runtime/repeatedly';
import { sendDue, type SendOptions } from './send-due.ts';

export type SendingOptions = Pick<SendOptions, 'sendings' | 'write'> & {
  broker: Pick<Broker, 'publish'>;
  intervalMs: number;
  claimMs: number;
  until: AbortSignal;
  log: Log;
  clock?: Clock;
};

/** Looks for what is due, again and again, until the signal, or until it is disposed of. Any number of replicas may. */
export function startSending({ broker, intervalMs, claimMs, until, log, ...options }: SendingOptions): AsyncDisposable {
  const { clock = systemClock } = options;
  async function sendSome(stop: AbortSignal): Promise<number> {
    const claimedAt = clock.now();
    // Like a message that is held: once its claim has run out, it is somebody else's.
    const isClaimed = () => !stop.aborted && clock.now() - claimedAt < claimMs;
    const { due, sent } = await sendDue({
      ...options,
      publish: (publication) => publishUntilConfirmed({ broker, clock }, publication, isClaimed),
    });
    if (due > 0) log.info({ due, sent }, 'deliveries.sent-by-hand');
    return due;
  }

  async function sendAll(stop: AbortSignal): Promise<void> {
    // A claim takes some of what is due: there may be more.
    while ((await sendSome(stop)) > 0 && !stop.aborted);
  }

  return repeatedly(sendAll, { intervalMs, beginsAtOnce: true, until, complaint: 'sending.failed', log, clock });
}
