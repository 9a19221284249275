import { publishWaiting, readDelivery } from '@waybell/line/delivery';
import { isRejection, type Handler, type Message, type Rejection } from '@waybell/line/messages';
import { WAITING_LANES, waitingQueue, type WaitingLane } from '@waybell/line/topology';
import { attempting, deciding, type DeliverOptions, type Taken } from './deliver.ts';
import type { ScanPace } from './windows/scan-pace.ts';

/** A delivery from a waiting lane. */
export type Waiting = Taken & { lane: WaitingLane };

export type DeliverWaitingOptions = DeliverOptions & { paces: Record<WaitingLane, ScanPace> };

/** Attempts a delivery that was put aside, when it is time to look at it; where there is no room yet it waits on. */
export function deliverWaiting({ paces, ...options }: DeliverWaitingOptions): Handler<Waiting> {
  const decide = deciding(options);
  const attempt = attempting(options);
  return async (delivery) => {
    const { lane } = delivery;
    const pace = paces[lane];
    if (!(await pace.turn())) return [publishWaiting(delivery, lane)];
    const decision = await decide(delivery);
    pace.ended(decision.kind === 'aside' ? 'vain' : 'fruitful');
    return decision.kind === 'attempt' ? attempt(decision) : decision.caused;
  };
}

export function readWaiting(message: Message): Waiting | Rejection {
  const delivery = readDelivery(message);
  // Suspects come from a queue of their own; for those one lane is as good as the other.
  const lane = WAITING_LANES.find((each) => message.queue === waitingQueue(each)) ?? 'busy';
  return isRejection(delivery) ? delivery : { ...delivery, lane };
}
