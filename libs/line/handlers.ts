import type { Begin, Handler, InParts, Outgoing } from './messages.ts';

/** Makes a handler from work on a whole batch; the work resolves with the effects of each message, in order. */
export function allAtOnce<M>(work: (batch: readonly M[]) => Promise<readonly (readonly Outgoing[])[]>): Handler<M> {
  return async (batch) => {
    const caused = await work(batch);
    return (place, end) => end({ kind: 'done', caused: caused[place] ?? [] });
  };
}

/** Makes a handler of work that is done for each message by itself. */
export function oneByOne<M>(work: (message: M) => Promise<readonly Outgoing[] | InParts>): Handler<M> {
  return async (batch) => startEach(batch, work);
}

/** Starts work that is done for each by itself. */
export function startEach<T>(batch: readonly T[], work: (each: T) => Promise<readonly Outgoing[] | InParts>): Begin {
  return (place, end) => {
    const each = batch[place];
    if (each === undefined) throw new Error('a batch has something at each of its places');
    work(each).then(
      (caused) => end({ kind: 'done', caused }),
      (error: unknown) => end({ kind: 'failed', error }),
    );
  };
}
