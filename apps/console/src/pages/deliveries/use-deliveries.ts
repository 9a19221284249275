import { useInfiniteQuery } from '@tanstack/react-query';
import { told } from '../../api/ask.ts';
import { useSignedIn } from '../../session/session.ts';
import type { DeliveryFilter, DeliveryRow } from './types.ts';

const PAGE_SIZE = 50;

type DeliveriesPage = { objects: DeliveryRow[]; next: string | null };

/** The deliveries of a filter, newest first, a page after another: the client's own, or to operators those of all accounts. */
export function useDeliveries(filter: DeliveryFilter) {
  const { ask, view } = useSignedIn();
  return useInfiniteQuery({
    queryKey: ['deliveries', filter],
    queryFn: ({ pageParam: cursor }): Promise<DeliveriesPage> => {
      const query = { ...filter, limit: PAGE_SIZE, ...(cursor !== '' && { cursor }) };
      const path = view === 'operator' ? '/v1/admin/deliveries' : '/v1/deliveries';
      return told(ask.client.GET(path as '/v1/deliveries', { params: { query: query as never } })) as never;
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

/** Up to when a look went that has not come to its end: its `next` begins with that time. */
export function lookedBackTo(next: string | null | undefined): string | undefined {
  const at = Number(next?.split('_')[0] ?? Number.NaN);
  return Number.isFinite(at) ? new Date(at).toISOString() : undefined;
}
