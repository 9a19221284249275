import type { Broker } from '../broker.ts';
import { TooLarge } from '../publish-errors.ts';
import { joinDeliveries } from '../delivery-batch.ts';
import type { Publication } from '../messages.ts';
import type { StepReport } from '../step-report.ts';

export type BatchPublisherOptions = {
  broker: Pick<Broker, 'send'>;
  report: Pick<StepReport<never>, 'bundled'>;
  onSettled: (sending: number, error: unknown) => void;
};

type BatchedPublish = { sending: number; publication: Publication };

/** Weight of the newest bundle in the mean size. */
const WEIGHT = 1 / 64;

/** Publishes. Messages that may be bundled wait for the end of this turn of the event loop and share their bundle's result. */
export class BatchPublisher {
  readonly #options: BatchPublisherOptions;
  #toBundle: BatchedPublish[] = [];
  /** Mean number of messages in the last bundles; one sent alone that could have been bundled counts as a bundle of one. */
  perBundle = 1;

  constructor(options: BatchPublisherOptions) {
    this.#options = options;
  }

  publish(sent: BatchedPublish): void {
    if (sent.publication.deliveries !== true) return this.#send(sent);
    // Runs after everything that this turn of the event loop causes.
    if (this.#toBundle.push(sent) === 1) process.nextTick(() => this.#sendBundles());
  }

  #sendBundles(): void {
    const all = this.#toBundle;
    this.#toBundle = [];
    for (const { publication, members } of joinDeliveries(all)) {
      this.#options.report.bundled(members.length);
      this.perBundle += (members.length - this.perBundle) * WEIGHT;
      this.#sendBundle(publication, members);
    }
  }

  #send({ sending, publication }: BatchedPublish): void {
    const { broker, onSettled } = this.#options;
    broker.send(publication, (error) => onSettled(sending, error));
  }

  /** Sends the members of a batch that is too large one by one. */
  #sendBundle(publication: Publication, members: readonly BatchedPublish[]): void {
    const { broker, onSettled } = this.#options;
    broker.send(publication, (error) => {
      for (const each of members) {
        if (error instanceof TooLarge && members.length > 1) this.#send(each);
        else onSettled(each.sending, error);
      }
    });
  }
}
