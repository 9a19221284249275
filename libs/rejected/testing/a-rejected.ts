import type { RejectedMessage } from '@waybell/line/operating/rejected-queue';

/** A rejected event; give what matters. */
export function aRejected(what: Partial<RejectedMessage> = {}): RejectedMessage {
  return {
    id: '0123456789',
    reason: 'payload_invalid',
    detail: '/payload/id: must be integer',
    rejectedAt: '2026-11-20T09:30:00.123Z',
    queue: 'waybell.events.router',
    exchange: 'waybell.events',
    routingKey: 'carrier.order.created',
    body: Buffer.from('{}'),
    ...what,
  };
}
