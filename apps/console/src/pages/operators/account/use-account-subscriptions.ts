import { useInfiniteQuery } from '@tanstack/react-query';
import { told } from '../../../api/ask.ts';
import { useSignedIn } from '../../../session/session.ts';

const PAGE_SIZE = 100;

/** Current and ended subscriptions of an account, as many pages as were asked for. */
export function useAccountSubscriptions(guid: string) {
  const { ask } = useSignedIn();
  return useInfiniteQuery({
    queryKey: ['subscriptions of', guid],
    queryFn: ({ pageParam: cursor }) =>
      told(
        ask.operator.GET('/v1/admin/accounts/{guid}/subscriptions', {
          params: { path: { guid }, query: { limit: PAGE_SIZE, ...(cursor !== '' && { cursor }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    select: ({ pages }) => pages.flatMap(({ objects }) => objects),
  });
}
