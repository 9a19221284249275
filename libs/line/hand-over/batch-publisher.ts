import type { Broker } from '../broker.ts';
import { TooLarge } from '../publish-errors.ts';
import { bundle } from '../bundle.ts';
import type { Publication } from '../messages.ts';
import type { StepReport } from '../step-report.ts';

export type BatchPublisherOptions = {
  broker: Pick<Broker, 'send'>;
  report: Pick<StepReport<never>, 'bundled'>;
  /** Messages in a bundle at most; 16 unless said. */
  bundleMembers: number | undefined;
  onSettled: (sending: number, error: unknown) => void;
};

type BatchedPublish = { sending: number; publication: Publication };

/** The weight of one more bundle in the mean size. */
const WEIGHT = 1 / 64;

/** Publishes. What may travel in a bundle waits for the end of this turn of the event loop, and shares the fate of its bundle. */
export class BatchPublisher {
  readonly #options: BatchPublisherOptions;
  #toBundle: BatchedPublish[] = [];
  /** Messages in one that may be a bundle, on the mean of the last some. */
  perBundle = 1;

  constructor(options: BatchPublisherOptions) {
    this.#options = options;
  }

  publish(sent: BatchedPublish): void {
    if (sent.publication.mayBundle !== true) return this.#send(sent);
    // Behind all that this turn of the event loop leads to.
    if (this.#toBundle.push(sent) === 1) process.nextTick(() => this.#sendBundles());
  }

  #sendBundles(): void {
    const all = this.#toBundle;
    this.#toBundle = [];
    for (const { publication, members } of bundle(all, this.#options.bundleMembers)) {
      this.#options.report.bundled(members.length);
      this.perBundle += (members.length - this.perBundle) * WEIGHT;
      const [only] = members;
      if (members.length === 1 && only !== undefined) this.#send(only);
      else this.#sendBundle(publication, members);
    }
  }

  #send({ sending, publication }: BatchedPublish): void {
    const { broker, onSettled } = this.#options;
    broker.send(publication, (error) => onSettled(sending, error));
  }

  /** One that is too large is sent again member by member. */
  #sendBundle(publication: Publication, members: readonly BatchedPublish[]): void {
    const { broker, onSettled } = this.#options;
    broker.send(publication, (error) => {
      for (const each of members) {
        if (error instanceof TooLarge) this.#send(each);
        else onSettled(each.sending, error);
      }
    });
  }
}
