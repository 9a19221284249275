import type { EventInput } from '../write-event.ts';

const carrier = '6f1e2ab4-0f0c-4c1c-9a3c-0d6d0f6f3a51';

/** An event whose routing key the line of tests knows. */
export const anEvent = (id: number | bigint = 4711): EventInput => ({
  interface: 'carrier',
  action: 'order.created',
  parties: { carrier },
  payload: { id, status: 'new' },
});
