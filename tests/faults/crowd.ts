import { readFigures } from '@waybell/stack/service-process';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { subscribed, type Subscribed } from '../testing/subscribers.ts';
import type { Stage } from './stage.ts';

/** Few endpoints of one account at one host are called at once: several accounts carry more. */
const ACCOUNTS = 4;

/** Accounts with so many clients each, all of one action: an event of theirs is that many deliveries at once, a batch. */
export async function crowds(stage: Stage, clients: number, slowMs?: number): Promise<Subscribed[]> {
  const wanted = { interface: 'shipper', action: 'order.paid', folder: '/crowd', answers: [200], clients } as const;
  const each = { ...wanted, ...(slowMs !== undefined && { slowMs }) };
  return Promise.all(Array.from({ length: ACCOUNTS }, () => subscribed(stage, each)));
}

/** Deliveries that a router has sent on, and in how many messages, since it began. */
export async function sentBy({ spec }: SupervisedProcess): Promise<{ deliveries: number; messages: number }> {
  const figures = await readFigures(spec.health ?? '');
  const sumOf = (metric: string) => figures?.sumOf(metric) ?? 0;
  return {
    deliveries: sumOf('waybell_delivery_batch_members_total'),
    messages: sumOf('waybell_delivery_batches_total'),
  };
}
