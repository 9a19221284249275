import type { components } from '../../api/client-api.d.ts';
import type { AccountName } from '../operators/types.ts';

type ListedDelivery = components['schemas']['ListedDelivery'];

/** A name of what an event is about, such as the number of an order. */
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

/** A delivery in a list; to operators with whose it is. */
export type ShownDelivery = ListedDelivery & { account?: AccountName; client_id?: string };
