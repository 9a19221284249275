/** What to do with a publication that is larger than the broker takes: the same in several, where that says the same. */
import type { Broker } from './broker/connect-broker.ts';
import { TooLarge, type OnSettled, type PublishError } from './broker/publish-errors.ts';
import { publishEnds, readEnds } from './delivery-ends.ts';
import { isUnreadable, type Publication } from './messages.ts';
import { publishOutcomes, readBatch } from './outcome-batch.ts';
import { isAttempted, type Outcome } from './outcomes.ts';
import { endsExchange, outcomesExchange } from './topology.ts';

/** Batches go in as many messages as it takes. It is settled when all are: well, or with the error of one of them. */
export function sendFitting(
  broker: Pick<Broker, 'send' | 'largest'>,
  publication: Publication,
  onSettled: OnSettled,
): void {
  const sendApart = (error: TooLarge): void => {
    const parts = smallerOf(publication);
    if (parts === undefined) return onSettled(error);
    let open = parts.length;
    let failure: PublishError | undefined;
    for (const part of parts) {
      sendFitting(broker, part, (partError) => {
        failure ??= partError;
        open -= 1;
        if (open === 0) onSettled(failure);
      });
    }
  };
  const { length } = publication.body;
  const largest = broker.largest();
  if (length > largest && isBatch(publication)) return sendApart(new TooLarge(length, largest));
  broker.send(publication, (error) => (error instanceof TooLarge ? sendApart(error) : onSettled(error)));
}

/** The same with a promise. */
export function publishFitting(broker: Pick<Broker, 'send' | 'largest'>, publication: Publication): Promise<void> {
  return new Promise((resolve, reject) => {
    sendFitting(broker, publication, (error) => (error === undefined ? resolve() : reject(error)));
  });
}

function isBatch({ exchange }: Publication): boolean {
  return exchange === outcomesExchange || exchange === endsExchange;
}

/** The same records in smaller messages; undefined where nothing is left to take apart or to leave out, or a later version wrote them. */
function smallerOf({ exchange, body }: Publication): Publication[] | undefined {
  if (exchange === endsExchange) {
    const ends = readEnds({ body });
    return isUnreadable(ends) ? undefined : halvesOf(ends)?.map(publishEnds);
  }
  if (exchange !== outcomesExchange) return undefined;
  const outcomes = readBatch({ body });
  if (isUnreadable(outcomes)) return undefined;
  const [first] = outcomes;
  const parts = halvesOf(outcomes) ?? (first && smallerOutcome(first)?.map((outcome) => [outcome]));
  return parts?.map(publishOutcomes);
}

/** One record in halves, or without what was sent and answered, where that does not fit: that it was sent is what matters. */
function smallerOutcome(outcome: Outcome): Outcome[] | undefined {
  if (outcome.kind === 'routed') {
    const { deliveries, suppressed } = outcome;
    if (deliveries.length < 2 && suppressed.length < 2) return undefined;
    const parts = [
      ...(halvesOf(deliveries) ?? [deliveries]).map((some) => ({ ...outcome, deliveries: some, suppressed: [] })),
      ...(halvesOf(suppressed) ?? [suppressed]).map((some) => ({ ...outcome, deliveries: [], suppressed: some })),
    ];
    return parts.filter((part) => part.deliveries.length + part.suppressed.length > 0);
  }
  if (!isAttempted(outcome)) return undefined;
  const { body, ...rest } = outcome;
  if (!('answer' in rest)) return body === undefined ? undefined : [rest];
  const { body: answered, ...answer } = rest.answer;
  return body === undefined && answered === undefined ? undefined : [{ ...rest, answer }];
}

function halvesOf<T>(all: readonly T[]): T[][] | undefined {
  const half = Math.ceil(all.length / 2);
  return all.length > 1 ? [all.slice(0, half), all.slice(half)] : undefined;
}
