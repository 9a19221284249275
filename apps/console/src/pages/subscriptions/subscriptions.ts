import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { components } from '../../api/client-api.d.ts';
import { answerOf } from '../../api/create-api.ts';
import { useSignedIn, type Session } from '../../session/session.ts';

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
