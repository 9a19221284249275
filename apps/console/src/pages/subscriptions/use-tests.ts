import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { useSignedIn } from '../../session/session.ts';
import type { DeliveryDetail } from '../find/delivery.ts';

/** Sends the example of a subscription's action, once, also while that is switched off or paused; tells what the receiver said. */
export function useTest(guid: string) {
  const { api } = useSignedIn();
  return useMutation({
    mutationFn: () => answerOf(api.client.POST('/v1/subscriptions/{guid}/test', { params: { path: { guid } } })),
  });
}

/** Whether the receiver took the test. */
export const isAccepted = ({ attempts }: DeliveryDetail): boolean => attempts.at(-1)?.kind === 'delivered';

/** How a test went: what its receiver answered, or why none was sent. */
export type TestOutcome = { kind: 'answered'; test: DeliveryDetail } | { kind: 'failed'; error: Error };

/** More at once would be refused as too many requests. */
const AT_ONCE = 4;

/** Sends a test of each of several subscriptions, once; `tested` has those that are answered, by their guids. */
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

/** Works on all of them, at most so many at once, in their order. The work itself says what went wrong: it must not reject. */
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
