import { microBatch } from '@waybell/runtime/micro-batch';
import { firstAttempt, publishWaiting, rowKeyOf, wait, type Delivery, type EndpointRoom } from '@waybell/line/delivery';
import { recordWithEnd } from '@waybell/line/delivery-ends';
import type { End, Handler, Outgoing, RowKey } from '@waybell/line/messages';
import { makeAttempt, type AttemptOptions, type Attempting } from './make-attempt.ts';
import {
  endpointKey,
  type Admit,
  type EndpointKey,
  type GrantedRequest,
  type RequestOrigin,
} from './endpoints/endpoint.ts';
import type { DeliveryTarget, FindTargets, KnownTarget } from './find-target.ts';
import { dropReason, whatIsOver, type OverOptions } from './what-is-over.ts';

export type DeliverOptions = AttemptOptions &
  OverOptions & {
    findTargets: FindTargets;
    /** Decides whether a request to an endpoint may begin now. */
    admit: Admit;
    /** Whether the delivery waits in a room already; then it stays there. */
    retain: (key: RowKey) => Promise<boolean>;
    /** Whether this process still holds the row of a delivery that waited, so that its effects may be published. */
    isHeld: (row: RowKey) => boolean;
    /** Called for a row of a room in which its subscription has nothing to wait for any more. */
    onElsewhere: (room: string) => void;
    /** Called for a delivery that waits because this process lacks the key to its subscription's secrets. */
    onKeyMissing: (keyId: string) => void;
  };

/** After waiting longer in hand, the target is looked up again. */
const OLD_MS = 100;

/** A delivery whose target was looked up; `askedAt`: when, by the monotonic clock. */
type LookedUp<T> = { delivery: Delivery; target: T; askedAt: number; end: End };

/**
 * Makes one attempt at each delivery: looks up the receivers of all of them, sends each its request, and ends it with the record,
 * the next attempt after its delay, or the end. While its endpoint takes no more, a delivery waits, unchanged, in the room of that; while
 * a key is missing, in the broker.
 */
export function deliver(options: DeliverOptions): Handler<Delivery> {
  const { findTargets, clock } = options;
  const deliverer = new DeliveryHandler(options);
  return async (deliveries) => {
    const askedAt = clock.now();
    const targets = await findTargets(deliveries.map(({ subscription }) => subscription));
    const waiting = await areWaiting(deliveries, targets, options);
    return (place, end) => {
      const delivery = deliveries[place];
      if (delivery === undefined) throw new Error('a batch has a delivery at each of its places');
      if (waiting?.[place]) endWith(end, []);
      else deliverer.decide({ delivery, target: targets[place], askedAt, end });
    };
  };
}

/** A delivery that came again may have been put into the room of its endpoint. */
async function areWaiting(
  deliveries: readonly Delivery[],
  targets: readonly KnownTarget[],
  { retain }: DeliverOptions,
): Promise<readonly boolean[] | undefined> {
  if (!deliveries.some(({ mayWait }) => mayWait)) return undefined;
  const isWaiting = async (delivery: Delivery, target: KnownTarget) =>
    delivery.mayWait === true &&
    isPresent(target) &&
    retain(rowKeyOf(delivery, { room: endpointKey(target).endpoint }));
  return Promise.all(deliveries.map((delivery, place) => isWaiting(delivery, targets[place])));
}

const roomOf = ({ endpoint, account }: EndpointKey): EndpointRoom => ({ room: endpoint, account });

class DeliveryHandler {
  readonly #options: DeliverOptions;
  readonly #findAgain: (subscription: string) => Promise<KnownTarget>;

  constructor(options: DeliverOptions) {
    this.#options = options;
    this.#findAgain = microBatch(options.findTargets, { nameOf: (subscription) => subscription });
  }

  /** Ends it without an attempt, or has it attempted once its endpoint takes it. */
  decide({ delivery, target: found, askedAt, end }: LookedUp<KnownTarget>): void {
    const options = this.#options;
    // What was forgotten ends whatever its target is: elsewhere it would no longer be known that its body is missing.
    const target = delivery.waited?.isForgotten && found instanceof Error ? undefined : found;
    if (target instanceof Error) return end({ kind: 'failed', error: target });
    const key = target && endpointKey(target);
    if (delivery.waited !== undefined && (delivery.waited.room !== key?.endpoint || dropReason(target) !== undefined))
      options.onElsewhere(delivery.waited.room);
    const over = whatIsOver(delivery, target, options);
    if (over !== undefined) return endWith(end, recordWithEnd(over));
    // Without a target it is over.
    if (target === undefined || key === undefined) return;
    delivery.room = roomOf(key);
    if (target.missingKey !== undefined) {
      options.onKeyMissing(target.missingKey);
      // Not in a room, whose limit could end it before the key comes.
      return endWith(end, [publishWaiting(delivery)]);
    }
    const requestedAt = options.clock.now();
    options.admit(key, originOf(delivery), (admission) => {
      if (admission.kind === 'full') endWith(end, [wait(delivery, { why: admission.why })]);
      else if (options.clock.now() - requestedAt > OLD_MS)
        void this.#decideAgain({ delivery, target, askedAt, end, key, admission });
      else this.#attempt({ delivery, target, askedAt, end, admission });
    });
  }

  /** The subscription may have ended, or lead elsewhere, while the delivery waited in hand. Never rejects. */
  async #decideAgain(
    waited: LookedUp<DeliveryTarget> & { key: EndpointKey; admission: GrantedRequest },
  ): Promise<void> {
    const { delivery, key, admission, end } = waited;
    const askedAt = this.#options.clock.now();
    const target = await this.#findAgain(delivery.subscription).catch(asError);
    if (isPresent(target) && isCalledAt(target, key) && whatIsOver(delivery, target, this.#options) === undefined) {
      return this.#attempt({ delivery, target, askedAt, end, admission });
    }
    admission.end('unused');
    this.decide({ delivery, target, askedAt, end });
  }

  /** Makes no request for a row that another process may have by now. */
  #attempt(attempting: Attempting): void {
    const { delivery, admission, end } = attempting;
    const { waited } = delivery;
    if (waited === undefined || this.#options.isHeld(rowKeyOf(delivery, waited)))
      return makeAttempt(attempting, this.#options);
    admission.end('unused');
    endWith(end, []);
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

function isPresent(target: KnownTarget): target is DeliveryTarget {
  return target !== undefined && !(target instanceof Error);
}

function endWith(end: End, caused: readonly Outgoing[]): void {
  end({ kind: 'done', caused });
}

function isCalledAt(target: DeliveryTarget, { endpoint }: EndpointKey): boolean {
  return target.missingKey === undefined && endpointKey(target).endpoint === endpoint;
}

function originOf(delivery: Delivery): RequestOrigin {
  const { byHand, waited, isSuspect, attempt } = delivery;
  if (byHand?.why === 'test') return 'by hand';
  if (isSuspect) return 'suspect';
  if (waited !== undefined) return 'waited';
  return attempt === firstAttempt(delivery) ? 'fresh' : 'retry';
}
