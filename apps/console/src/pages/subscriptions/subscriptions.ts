/** The subscriptions of a client: the actions that it may subscribe to, changes, and tests of receivers. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { components } from '../../api/client-api.d.ts';
import { answerOf } from '../../api/create-api.ts';
import { useSignedIn, type Session } from '../../session/session.ts';
import type { DeliveryDetail } from '../find/delivery.ts';

export type Subscription = components['schemas']['Subscription'];
type CarrierActionName = components['schemas']['CarrierActionName'];
type ShipperActionName = components['schemas']['ShipperActionName'];

/** An action that the account may subscribe to. */
export type OfferedAction = { action: string; description: string; audit_fields?: string[] };

/** The actions that the account may subscribe to. */
export function useOffered() {
  const { api, interface: interfaceName } = useSignedIn();
  const offered = async (): Promise<OfferedAction[]> =>
    interfaceName === 'shipper'
      ? (await answerOf(api.client.GET('/v1/public/webhooks/action_types'))).objects
      : answerOf(api.client.GET('/v1/webhooks/'));
  return useQuery({ queryKey: ['actions'], queryFn: offered });
}

/** Whether all words are in the name or the description of an action; a word with a `*` is a pattern of the whole name. */
export function isFound({ action, description }: OfferedAction, words: string): boolean {
  const text = `${action} ${action.replaceAll(/[._]/g, ' ')} ${description}`.toLowerCase();
  return words
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .every((word) => (word.includes('*') ? patternOf(word).test(action) : text.includes(word)));
}

function patternOf(word: string): RegExp {
  const parts = word.split('*').map((part) => part.replaceAll(/\W/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`);
}

/** Ends the subscription to an action. Its name comes from the API: that is why it may be asserted. */
export function unsubscribe({ api: { client }, interface: interfaceName }: Session, action: string): Promise<unknown> {
  return interfaceName === 'shipper'
    ? answerOf(
        client.POST('/v1/public/webhooks/{webhook_action}/unsubscribe', {
          params: { path: { webhook_action: action as ShipperActionName } },
        }),
      )
    : answerOf(
        client.DELETE('/v1/webhooks/{webhook_action}/subscriptions/', {
          params: { path: { webhook_action: action as CarrierActionName } },
        }),
      );
}

/** Changes subscriptions of the client. Reloads lists afterwards, whether it succeeded or not. */
export function useSubscriptionChange<Answer, Input = void>(
  change: (input: Input) => Promise<Answer>,
  onSuccess?: (answer: Answer) => void,
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    ...(onSuccess && { onSuccess }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['subscriptions'] }),
  });
}

/** At most so many tests at once: each lasts as long as the receiver needs, and more would be refused as too many requests. */
const AT_ONCE = 4;

/** The outcome of a test: the delivery, or why none was sent. */
export type TestOutcome = { kind: 'answered'; test: DeliveryDetail } | { kind: 'failed'; error: Error };

/** Whether the receiver accepted the test. */
export const isAccepted = ({ attempts }: DeliveryDetail): boolean => attempts.at(-1)?.kind === 'delivered';

/** Sends the example of a subscription's action, once, also while the subscription is switched off or paused. Returns the delivery. */
export function useTest(guid: string) {
  const { api } = useSignedIn();
  return useMutation({
    mutationFn: () => answerOf(api.client.POST('/v1/subscriptions/{guid}/test', { params: { path: { guid } } })),
  });
}

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
  const run = useMutation({ mutationFn: async () => forEachConcurrently(guids, work) });
  return { tested, hasBegun: !run.isIdle, send: () => run.mutate() };
}

/** Works on each subscription, in order, a few at a time. The work must not reject: it handles its own errors. */
export async function forEachConcurrently(
  guids: readonly string[],
  work: (guid: string) => Promise<void>,
): Promise<void> {
  const rest = [...guids];
  const next = async (): Promise<void> => {
    for (let guid = rest.shift(); guid !== undefined; guid = rest.shift()) await work(guid);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}
