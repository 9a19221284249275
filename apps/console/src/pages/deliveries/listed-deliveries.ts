import { useInfiniteQuery } from '@tanstack/react-query';
import type { components, operations } from '../../api/client-api.d.ts';
import { answerOf } from '../../api/create-api.ts';
import { useSignedIn } from '../../session/session.ts';
import type { AccountName } from '../operators/types.ts';

type ListedDelivery = components['schemas']['ListedDelivery'];

/** A delivery in a list; operators see whose it is. */
export type ShownDelivery = ListedDelivery & { account?: AccountName; client_id?: string };

/** A key of an object that an event is about, such as the number of an order. */
export type ShownKey = ListedDelivery['keys'][number];

/** The filter in the page's address. `status` may be several, separated by commas. */
export type ListFilter = {
  status?: string;
  action?: string;
  subscription?: string;
  endpoint?: string;
  reason?: string;
  key?: string;
  guid?: string;
  since?: string;
  until?: string;
  account?: string;
  client?: string;
};

const PAGE_SIZE = 50;

type DeliveriesPage = { objects: ShownDelivery[]; next: string | null };
type Query = NonNullable<operations['listDeliveries']['parameters']['query']>;

/** The deliveries that match a filter, newest first, in pages: those of the client, or for operators those of all accounts. */
export function useDeliveries({ status, ...filter }: ListFilter) {
  const { api, view } = useSignedIn();
  return useInfiniteQuery({
    queryKey: ['deliveries', { status, ...filter }],
    queryFn: async ({ pageParam: cursor }): Promise<DeliveriesPage> => {
      const given = {
        ...filter,
        ...(status !== undefined && { status: status.split(',') }),
        ...(cursor !== '' && { cursor }),
        limit: PAGE_SIZE,
      };
      // The filter is part of an address that anybody may write: the API names members that it does not know.
      const query = given as Query;
      return view === 'operator'
        ? answerOf(api.operator.GET('/v1/admin/deliveries', { params: { query } }))
        : answerOf(api.client.GET('/v1/deliveries', { params: { query } }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

/** How far back an unfinished search went: its `next` begins with that time. */
export function searchedBackTo(next: string): string | undefined {
  const at = Number(next.split('_')[0]);
  return Number.isFinite(at) ? new Date(at).toISOString() : undefined;
}
