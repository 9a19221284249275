/** Operations on the rejected queue, shared by the command line and the API. */
import { actionKey, actions } from '@waybell/catalog/actions';
import { type Publication, publishAgain } from '@waybell/line/messages';
import type { CommandPublisher } from '@waybell/line/operating/operator-line';
import type { RejectedMessage, RejectedQueue } from '@waybell/line/operating/rejected-queue';
import {
  deactivatorQueue,
  deliveriesExchange,
  endsExchange,
  eventsExchange,
  logQueue,
  outcomesExchange,
  retryExchange,
  returnsExchange,
  straysExchange,
  waitingExchange,
} from '@waybell/line/topology';
import { isAbout, isCalled, isSelected, type Selection } from './selection.ts';

type RejectedSource = Pick<RejectedQueue, 'messages' | 'remove'>;

export type RejectedFacts = Omit<RejectedMessage, 'body' | 'cameBefore' | 'mayWait' | 'delivery'> & {
  /** The size of its body. */
  size: number;
};

/** The result of retrying one message. */
export type Retried = { id: string } & ({ kind: 'retried'; to: string } | { kind: 'stays'; why: string });

/** The queue has no message of that name. */
export class NotRejected extends Error {
  constructor(names: readonly string[]) {
    super(`not there: ${names.join(', ')}; see "./waybell rejected list"`);
    this.name = 'NotRejected';
  }
}

/** The name matches several messages. */
export class SeveralRejected extends Error {
  constructor(name: string, ids: readonly string[]) {
    super(`${name} may be any of these: ${ids.join(', ')}; see "./waybell rejected list --about ${name}"`);
    this.name = 'SeveralRejected';
  }
}

/** The rejected message is a delivery or an outcome, which an event cannot replace. */
export class NotAnEvent extends Error {
  constructor(id: string) {
    super(`${id} is not an event that was rejected`);
    this.name = 'NotAnEvent';
  }
}

export type RejectedFilter = { reason?: string | undefined; about?: string | undefined };

/** Lists the oldest first. */
export async function listRejected(
  queue: RejectedSource,
  { reason, about }: RejectedFilter = {},
): Promise<RejectedFacts[]> {
  const found: RejectedFacts[] = [];
  for await (const rejected of queue.messages()) {
    const isMeant = reason === undefined || rejected.reason === reason;
    if (isMeant && (about === undefined || isAbout(rejected, about))) found.push(factsOf(rejected));
  }
  const key = ({ rejectedAt, id }: RejectedFacts) => `${rejectedAt} ${id}`;
  return found.toSorted((one, other) => key(one).localeCompare(key(other)));
}

/**
 * Finds the message with this id, message id or event guid; otherwise the only message that names it. Throws `NotRejected` if
 * there is none, `SeveralRejected` if there are several.
 */
export async function showRejected(queue: RejectedSource, name: string): Promise<RejectedMessage> {
  const about: RejectedMessage[] = [];
  for await (const rejected of queue.messages()) {
    if (rejected.id === name.toLowerCase()) return rejected;
    if (isAbout(rejected, name)) about.push(rejected);
  }
  const called = about.filter((rejected) => isCalled(rejected, name));
  const [found, ...others] = called.length > 0 ? called : about;
  if (found === undefined) throw new NotRejected([name]);
  if (others.length > 0)
    throw new SeveralRejected(
      name,
      [found, ...others].map(({ id }) => id),
    );
  return found;
}

/**
 * Publishes messages again to where they came from, and removes each after its confirm: a crash in between duplicates one but
 * loses none. Throws if the broker confirms nothing; earlier ones are done.
 */
export async function* retryRejected(
  queue: RejectedSource,
  line: Pick<CommandPublisher, 'publish'>,
  selection: Selection,
): AsyncGenerator<Retried> {
  for await (const rejected of selected(queue, selection)) {
    const retried = await retry(line, rejected);
    if (retried.kind === 'retried') queue.remove(rejected);
    yield { id: rejected.id, ...retried };
  }
}

/**
 * Publishes the corrected form of a rejected event, and removes the rejected one after the confirm. Throws `NotRejected` or
 * `NotAnEvent` before publishing; also throws if the broker confirms nothing.
 */
export async function replaceRejected(
  queue: RejectedSource,
  line: Pick<CommandPublisher, 'publish'>,
  { id, publication }: { id: string; publication: Publication },
): Promise<void> {
  for await (const rejected of queue.messages()) {
    if (rejected.id !== id) continue;
    if (!isEvent(rejected)) throw new NotAnEvent(id);
    // Never unroutable: the alternate exchange takes what no queue takes.
    await line.publish(publication);
    return queue.remove(rejected);
  }
  throw new NotRejected([id]);
}

/** Deletes messages for good; in a trial, only returns them. */
export async function* purgeRejected(
  queue: RejectedSource,
  selection: Selection,
  { isTrial }: { isTrial: boolean },
): AsyncGenerator<RejectedFacts> {
  for await (const rejected of selected(queue, selection)) {
    if (!isTrial) queue.remove(rejected);
    yield factsOf(rejected);
  }
}

/** Omits the body. */
export function factsOf(rejected: RejectedMessage): RejectedFacts {
  const { body, cameBefore: _, mayWait: __, delivery: ___, ...facts } = rejected;
  return { ...facts, size: body.length };
}

/** Throws `NotRejected` after the last message, for names that matched none. */
async function* selected(queue: RejectedSource, selection: Selection): AsyncGenerator<RejectedMessage> {
  const missing = new Set(selection.kind === 'ids' ? selection.ids : []);
  for await (const rejected of queue.messages()) {
    if (!isSelected(selection, rejected)) continue;
    for (const name of missing) if (isCalled(rejected, name)) missing.delete(name);
    yield rejected;
  }
  if (missing.size > 0) throw new NotRejected([...missing]);
}

type SentBack = { kind: 'retried'; to: string } | { kind: 'stays'; why: string };

async function retry(line: Pick<CommandPublisher, 'publish'>, rejected: RejectedMessage): Promise<SentBack> {
  const route = returnRouteOf(rejected);
  if (route === undefined) {
    return { kind: 'stays', why: 'it does not tell how it came onto the line; save it with "show --raw"' };
  }
  const to = route.exchange === '' ? route.routingKey : `${route.exchange} ${route.routingKey}`;
  const answer = await line
    .publish(publishAgain(rejected, route))
    .catch((error: unknown) => stoppedAt(rejected, error));
  if (answer === 'confirmed') return { kind: 'retried', to };
  const why = `no queue takes ${to}: is the line declared with all its actions ("./waybell declare")?`;
  return { kind: 'stays', why };
}

function stoppedAt({ id }: RejectedMessage, error: unknown): never {
  const why = error instanceof Error ? error.message : String(error);
  throw new Error(`${why}. ${id} stays and may be on the line as well; those before it are done. Retry again later.`, {
    cause: error,
  });
}

type ReturnRoute = Pick<Publication, 'exchange' | 'routingKey'>;

const actionKeys = new Set(actions.map(actionKey));
/** Queues that a message goes back to by name, past the exchange. */
const SENT_BACK_TO = new Set([logQueue, deactivatorQueue]);

/**
 * The exchange and routing key that bring a rejected message back onto the line; undefined where that cannot be told.
 *
 * | came by | goes back by |
 * |---|---|
 * | events | the same exchange and key |
 * | deliveries (those that waited, too), retry, returns, waiting | deliveries, to be attempted now |
 * | outcomes, ends | the queue of the delivery log, that of the deactivator |
 * | the name of one of these queues (it was sent back before) | the same queue |
 * | strays (the broker gave it up) | deliveries or events, whichever it is made for |
 */
export function returnRouteOf({ exchange, routingKey, type = '' }: RejectedMessage): ReturnRoute | undefined {
  switch (exchange) {
    case eventsExchange:
      return { exchange, routingKey };
    case deliveriesExchange:
    case retryExchange:
    case returnsExchange:
    case waitingExchange:
      return deliveryRoute(type) ?? deliveryRoute(routingKey);
    case outcomesExchange:
      return { exchange: '', routingKey: logQueue };
    case endsExchange:
      return { exchange: '', routingKey: deactivatorQueue };
    case '':
      return SENT_BACK_TO.has(routingKey) ? { exchange, routingKey } : undefined;
    case straysExchange:
      // Only deliveries have a type.
      return deliveryRoute(type) ?? (actionKeys.has(routingKey) ? { exchange: eventsExchange, routingKey } : undefined);
    default:
      return undefined;
  }
}

/** Whether it is an event as upstream published it, however faulty. */
export function isEvent(rejected: RejectedMessage): boolean {
  const route = returnRouteOf(rejected);
  if (route !== undefined) return route.exchange === eventsExchange;
  return rejected.exchange === straysExchange && rejected.type === undefined;
}

function deliveryRoute(key: string): ReturnRoute | undefined {
  return actionKeys.has(key) ? { exchange: deliveriesExchange, routingKey: key } : undefined;
}
