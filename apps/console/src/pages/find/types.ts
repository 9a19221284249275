import type { components } from '../../api/client-api.d.ts';

type Schemas = components['schemas'];

export type Attempt = Schemas['Attempt'];
export type Delivery = Schemas['Delivery'];
export type DeliveryDetail = Schemas['DeliveryDetail'];
export type TimelineEvent = Schemas['TimelineEvent'];
export type Verdict = Schemas['Verdict'];

/** Whether more is to come of it. */
export const isUnderWay = ({ status }: Pick<Delivery, 'status'>): boolean =>
  status === 'waiting' || status === 'retrying';
