import { reject, type Message, type Outgoing, type Publication, type Rejection } from './messages.ts';
import { rejectNewer } from './newer-format.ts';
import type { Attempted, DeliveryEnd } from './outcomes.ts';
import { endsExchange } from './topology.ts';

/**
 * The record of an attempt, and with it the end of its delivery where the deactivator is to be told: of every failure
 * that counts, and of a success only where it can matter. What waited too long says nothing about its receiver, and what
 * was sent by hand not whether it fails by itself.
 */
export function recordWithEnd(outcome: Attempted, { reportsSuccess = false } = {}): Outgoing[] {
  const record: Outgoing = { kind: 'outcome', outcome };
  const isDelivered = outcome.kind === 'delivered';
  if (isDelivered ? !reportsSuccess : !isFailureThatCounts(outcome)) return [record];
  const { delivery, subscription, generation, at } = outcome;
  return [record, { kind: 'end', end: { delivery, subscription, generation, isDelivered, at } }];
}

function isFailureThatCounts(outcome: Attempted): boolean {
  return outcome.kind === 'exhausted' && outcome.byHand === undefined && 'answer' in outcome;
}

const VERSION = 2;

/** The length of one in a batch, about. */
export const END_CHARACTERS = 103;

export function publishEnds(ends: readonly DeliveryEnd[]): Publication {
  return {
    kind: 'publish',
    exchange: endsExchange,
    routingKey: '',
    body: writeEnds(ends),
    contentType: 'application/json',
  };
}

export function writeEnds(ends: readonly DeliveryEnd[]): Buffer {
  const written = ends.map(({ delivery, subscription, generation, isDelivered, at }) => [
    delivery,
    subscription,
    generation,
    isDelivered,
    at,
  ]);
  return Buffer.from(JSON.stringify({ version: VERSION, ends: written }));
}

/** Reads a batch of ends. A message that this version cannot read is rejected. */
export function readEnds({ body }: Pick<Message, 'body'>): DeliveryEnd[] | Rejection {
  try {
    const { version, ends } = JSON.parse(body.toString());
    if (version > VERSION) return rejectNewer(`ends of format ${version}`);
    if (version !== VERSION) return reject('not_ends', `version ${String(version)}; this process reads ${VERSION}`);
    // Only the deliverer may publish here; the version says that it means this shape.
    return (ends as [string, string, number, boolean, number][]).map(
      ([delivery, subscription, generation, isDelivered, at]) => {
        return { delivery, subscription, generation, isDelivered, at };
      },
    );
  } catch (error) {
    return reject('not_ends', error instanceof Error ? error.message : String(error));
  }
}
