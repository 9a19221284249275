import { type Fate, type Handler, type InParts, noResult, type Outgoing } from '../messages.ts';

/**
 * Runs a handler with a batch, all of which stays in hand unless told otherwise. Resolves with the fate of each, in their order;
 * rejects if it throws for all of them.
 */
export async function fatesOf<M>(handle: Handler<M>, batch: readonly M[], isInHand = () => true): Promise<Fate[]> {
  const begin = await handle(batch, isInHand);
  const fateAt = async (place: number) => {
    try {
      return await new Promise<Fate>((end) => begin(place, end));
    } catch (error) {
      return noResult(error);
    }
  };
  return Promise.all(batch.map((_, place) => fateAt(place)));
}

/** Runs a handler with one message, and resolves with what it causes. Rejects if it fails. */
export async function handled<M>(handle: Handler<M>, message: M): Promise<readonly Outgoing[] | InParts> {
  const [fate] = await fatesOf(handle, [message]);
  return causedIn(fate);
}

/** Runs a handler with one message, and resolves with what it causes, which is not in parts. Rejects if it fails. */
export async function causedBy<M>(
  handle: Handler<M>,
  message: M,
  isInHand?: () => boolean,
): Promise<readonly Outgoing[]> {
  const [fate] = await fatesOf(handle, [message], isInHand);
  return causedAtOnce(fate);
}

/** Returns what a message caused, which is not in parts. Throws the error of one that failed, or was rejected. */
export function causedAtOnce(fate: Fate | undefined): readonly Outgoing[] {
  const caused = causedIn(fate);
  if ('next' in caused) throw new Error('it is caused in parts');
  return caused;
}

function causedIn(fate: Fate | undefined): readonly Outgoing[] | InParts {
  if (fate?.kind === 'done') return fate.caused;
  throw fate?.kind === 'reject' ? new Error(fate.detail) : fate?.error;
}
