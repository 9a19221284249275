import { told } from '../../api/ask.ts';
import { useSignedIn } from '../../session/session.ts';
import { useSubscriptionChange } from './subscribing.ts';
import { isTaken, useTest } from './use-test.ts';

/**
 * The way back of a subscription that is off, in steps: a test, switching it on in place, replaying what it missed. Each step follows where
 * the one before went well; `goOn` switches on whatever the test said. Once the dialog is closed, nothing more follows.
 */
export function useSwitchOn(guid: string, isReplayed: boolean) {
  const { ask } = useSignedIn();
  const test = useTest(guid);
  const switchOn = useSubscriptionChange(() =>
    told(ask.client.PATCH('/v1/subscriptions/{guid}', { params: { path: { guid } }, body: { is_active: true } })),
  );
  const replay = useSubscriptionChange(() =>
    told(ask.client.POST('/v1/replays', { body: { subscription_guid: guid, missed: true } })),
  );
  const goOn = () =>
    switchOn.mutate(undefined, {
      onSuccess: ({ missed }) => {
        if (isReplayed && (missed?.count ?? 0) > 0) replay.mutate();
      },
    });
  const begin = () =>
    test.mutate(undefined, {
      onSuccess: (delivery) => {
        if (isTaken(delivery)) goOn();
      },
    });
  return { test, switchOn, replay, begin, goOn };
}
