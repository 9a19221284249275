import type { components } from '../../api/client-api.d.ts';

type ClientSchemas = components['schemas'];

export type Attempt = ClientSchemas['Attempt'];
export type Delivery = ClientSchemas['Delivery'];
export type DeliveryDetail = ClientSchemas['DeliveryDetail'];
export type TimelineEvent = ClientSchemas['TimelineEvent'];
export type Verdict = ClientSchemas['Verdict'];

/** Whether the delivery has not ended. */
export const isUnderWay = ({ status }: Pick<Delivery, 'status'>): boolean =>
  status === 'waiting' || status === 'retrying';

/** How it stands, for people: what waits for its endpoint waits, whichever attempt is due. */
export const standingOf = ({ waiting, status }: Pick<Delivery, 'status' | 'waiting'>): string =>
  waiting === undefined ? status : 'waiting';
