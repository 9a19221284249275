import { useMutation } from '@tanstack/react-query';
import { told } from '../../api/ask.ts';
import { useSignedIn } from '../../session/session.ts';
import type { DeliveryDetail } from '../find/types.ts';

/** Sends the example of a subscription's action, once, also while that is switched off or paused; tells what the receiver said. */
export function useTest(guid: string) {
  const { ask } = useSignedIn();
  return useMutation({
    mutationFn: () => told(ask.client.POST('/v1/subscriptions/{guid}/test', { params: { path: { guid } } })),
  });
}

/** Whether the receiver took the test. */
export const isTaken = ({ attempts }: DeliveryDetail): boolean => attempts.at(-1)?.kind === 'delivered';
