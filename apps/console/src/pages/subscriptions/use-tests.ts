import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { useSignedIn } from '../../session/session.ts';
import type { DeliveryDetail } from '../find/delivery.ts';

/** Sends the example of a subscription's action, once, also while the subscription is switched off or paused. Returns the delivery. */
export function useTest(guid: string) {
  const { api } = useSignedIn();
  return useMutation({
    mutationFn: () => answerOf(api.client.POST('/v1/subscriptions/{guid}/test', { params: { path: { guid } } })),
  });
}

/** Whether the receiver accepted the test. */
export const isAccepted = ({ attempts }: DeliveryDetail): boolean => attempts.at(-1)?.kind === 'delivered';

/** The outcome of a test: the delivery, or why none was sent. */
export type TestOutcome = { kind: 'answered'; test: DeliveryDetail } | { kind: 'failed'; error: Error };

/** More at once would be refused as too many requests. */
const AT_ONCE = 4;

/** Sends a test of each of several subscriptions, once; `tested` has the outcomes so far, by the guids of subscriptions. */
export function useTests(guids: readonly string[]) {
  const { client } = useSignedIn().api;
  const [tested, setTested] = useState<ReadonlyMap<string, TestOutcome>>(new Map());
  const work = async (guid: string) => {
    const test = answerOf(client.POST('/v1/subscriptions/{guid}/test', { params: { path: { guid } } }));
    const outcome = await test.then(
      (answered): TestOutcome => ({ kind: 'answered', test: answered }),
      (error: Error): TestOutcome => ({ kind: 'failed', error }),
    );
    setTested((before) => new Map(before).set(guid, outcome));
  };
  const run = useMutation({ mutationFn: async () => eachAtMost(guids, { atOnce: AT_ONCE, work }) });
  return { tested, hasBegun: !run.isIdle, send: () => run.mutate() };
}

/** Works on each, in order, at most so many at once. The work must not reject: it handles its own errors. */
export async function eachAtMost<T>(
  all: readonly T[],
  { atOnce, work }: { atOnce: number; work: (each: T) => Promise<void> },
): Promise<void> {
  const rest = [...all];
  const next = async (): Promise<void> => {
    for (let each = rest.shift(); each !== undefined; each = rest.shift()) await work(each);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}
