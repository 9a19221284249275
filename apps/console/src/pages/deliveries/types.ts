import type { Delivery } from '../find/types.ts';

/** A name of what an event is about, such as the number of an order. */
export type Key = { kind: string; key: string };

/** What the address of the page says: which deliveries are looked for. `status` may be several, with commas between them. */
export type DeliveryFilter = {
  status?: string;
  action?: string;
  subscription?: string;
  endpoint?: string;
  reason?: string;
  key?: string;
  since?: string;
  until?: string;
  account?: string;
  client?: string;
};

/** A delivery in a list; to operators with whose it is. */
export type DeliveryRow = Delivery & {
  keys?: readonly Key[];
  account?: { guid: string; name: string | null };
  client_id?: string;
};
