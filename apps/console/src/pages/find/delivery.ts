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

/** The status for people: a delivery that waits for its endpoint is `waiting`, also between attempts. */
export const standingOf = ({ waiting, status }: Pick<Delivery, 'status' | 'waiting'>): string =>
  waiting === undefined ? status : 'waiting';

/** The phases of an attempt of `wholeMs`, without those that took no time. `shade`: the number of the phase, which has its colour. */
export function phasesOf(attempt: Attempt, wholeMs: number) {
  const { dns_ms: dns = 0, connect_ms: connect = 0, tls_ms: tls = 0, first_byte_ms: first } = attempt;
  const connected = dns + connect + tls;
  return [
    { name: 'DNS', ms: dns },
    { name: 'connect', ms: connect },
    { name: 'TLS', ms: tls },
    { name: 'waiting (TTFB)', ms: Math.max(0, (first ?? wholeMs) - connected) },
    { name: 'response', ms: first === undefined ? 0 : Math.max(0, wholeMs - first) },
  ]
    .map((part, shade) => ({ ...part, shade }))
    .filter(({ ms }) => ms > 0);
}
