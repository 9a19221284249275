import { microBatch } from '@waybell/runtime/micro-batch';
import { firstAttempt, park, publishWaiting, type Delivery } from '@waybell/line/delivery';
import type { End, Handler, Outgoing } from '@waybell/line/messages';
import { makeAttempt, type AttemptOptions } from './make-attempt.ts';
import {
  endpointKey,
  type Admit,
  type EndpointKey,
  type GrantedRequest,
  type RequestOrigin,
} from './endpoints/endpoint.ts';
import type { DeliveryTarget, FindTargets, KnownTarget } from './find-target.ts';
import { whatIsOver, type OverOptions } from './what-is-over.ts';

export type DeliverOptions = AttemptOptions &
  OverOptions & {
    findTargets: FindTargets;
    /** Decides whether a request to an endpoint may begin now. */
    admit: Admit;
    /** Whether this attempt at the delivery is parked, with at least this hop. */
    isParked: (delivery: Delivery) => Promise<boolean>;
    /** Called for a delivery that waits because this process lacks the key to its subscription's secrets. */
    onKeyMissing: (keyId: string) => void;
  };

/** After waiting longer in hand, the target is looked up again. */
const OLD_MS = 100;

/** A delivery whose target was looked up; `askedAt`: when, by the monotonic clock. */
type LookedUp<T> = { delivery: Delivery; target: T; askedAt: number; end: End };

/**
 * Makes one attempt at each delivery: looks up the receivers of all of them, sends each its request, and ends it with the record,
 * the next attempt after its delay, or the end. Parks a delivery, unchanged, while its endpoint takes no more; leaves it in the
 * broker, unchanged, while a key is missing.
 */
export function deliver(options: DeliverOptions): Handler<Delivery> {
  const { findTargets, clock } = options;
  const deliverer = new DeliveryHandler(options);
  return async (deliveries) => {
    const askedAt = clock.now();
    const [targets, parked] = await Promise.all([
      findTargets(deliveries.map(({ subscription }) => subscription)),
      areParked(deliveries, options),
    ]);
    return (place, end) => {
      const delivery = deliveries[place];
      if (delivery === undefined) throw new Error('a batch has a delivery at each of its places');
      if (parked?.[place]) endWith(end, []);
      else deliverer.decide({ delivery, target: targets[place], askedAt, end });
    };
  };
}

async function areParked(
  deliveries: readonly Delivery[],
  { isParked }: DeliverOptions,
): Promise<readonly boolean[] | undefined> {
  if (!deliveries.some(({ mayBeParked }) => mayBeParked)) return undefined;
  return Promise.all(deliveries.map(async (delivery) => delivery.mayBeParked === true && isParked(delivery)));
}

class DeliveryHandler {
  readonly #options: DeliverOptions;
  readonly #findAgain: (subscription: string) => Promise<KnownTarget>;

  constructor(options: DeliverOptions) {
    this.#options = options;
    this.#findAgain = microBatch(options.findTargets, { nameOf: (subscription) => subscription });
  }

  /** Ends it without an attempt, or has it attempted once its endpoint takes it. */
  decide({ delivery, target, askedAt, end }: LookedUp<KnownTarget>): void {
    const options = this.#options;
    if (target instanceof Error) return end({ kind: 'failed', error: target });
    const over = whatIsOver(delivery, target, options);
    if (over !== undefined) return endWith(end, [{ kind: 'outcome', outcome: over }]);
    // Without a target it is over.
    if (target === undefined) return;
    if (target.missingKey !== undefined) {
      options.onKeyMissing(target.missingKey);
      // Not parked: the limit of parked deliveries could end it before the key comes.
      return endWith(end, [publishWaiting(delivery)]);
    }
    const key = endpointKey(target);
    key.isKnownHung = target.isHung;
    const requestedAt = options.clock.now();
    options.admit(key, originOf(delivery), (admission) => {
      if (admission.kind === 'full') endWith(end, [park(delivery, { account: target.account, why: admission.why })]);
      else if (options.clock.now() - requestedAt > OLD_MS)
        void this.#decideAgain({ delivery, target, askedAt, end, key, admission });
      else makeAttempt({ delivery, target, askedAt, end, admission }, options);
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
      return makeAttempt({ delivery, target, askedAt, end, admission }, this.#options);
    }
    admission.end('unused');
    this.decide({ delivery, target, askedAt, end });
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
  const { byHand, parked, isSuspect, attempt } = delivery;
  if (byHand?.why === 'test') return 'by hand';
  if (isSuspect) return 'suspect';
  if (parked !== undefined) return 'parked';
  return attempt === firstAttempt(delivery) ? 'fresh' : 'retry';
}
