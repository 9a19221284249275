import type { Handler, InParts, Outgoing } from './messages.ts';

/** Makes a handler of work that is done for a whole batch at once; it resolves with what each message causes, in their order. */
export function allAtOnce<M>(work: (batch: readonly M[]) => Promise<readonly (readonly Outgoing[])[]>): Handler<M> {
  return async (batch) => {
    const caused = await work(batch);
    return (place, end) => end({ kind: 'done', caused: caused[place] ?? [] });
  };
}

/** Makes a handler of work that is done for each message by itself. */
export function oneByOne<M>(work: (message: M) => Promise<readonly Outgoing[] | InParts>): Handler<M> {
  return async (batch) => (place, end) => {
    const message = batch[place];
    if (message === undefined) throw new Error('a batch has a message at each of its places');
    work(message).then(
      (caused) => end({ kind: 'done', caused }),
      (error: unknown) => end({ kind: 'failed', error }),
    );
  };
}
