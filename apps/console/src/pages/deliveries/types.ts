import type { components } from '../../api/client-api.d.ts';
import type { AccountName } from '../operators/types.ts';

type ListedDelivery = components['schemas']['ListedDelivery'];

/** A name of what an event is about, such as the number of an order. */
export type Key = ListedDelivery['keys'][number];

/** What the address of the page says: which deliveries are looked for. `status` may be several, with commas between them. */
export type DeliveryFilter = {
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
export type DeliveryRow = ListedDelivery & { account?: AccountName; client_id?: string };
