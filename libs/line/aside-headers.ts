/** Headers on messages that the hand-over moved aside: where each came from and why it was moved. */
export const asideHeaders = {
  queue: 'waybell-queue',
  exchange: 'waybell-exchange',
  routingKey: 'waybell-routing-key',
  user: 'waybell-user',
  failures: 'waybell-failures',
  reason: 'waybell-reason',
  detail: 'waybell-detail',
  at: 'waybell-at',
  cameBefore: 'waybell-came-before',
  mayWait: 'waybell-may-wait',
} as const;
