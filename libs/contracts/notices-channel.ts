import type { Notice } from '@waybell/rejected/reject-event';
import { otherNoticesExchange, rejectionsQueue } from '@waybell/line/topology';

const text = (description: string) => ({ type: 'string', description });
const known = (description: string) => ({ type: ['string', 'null'], description });

/** Members of a notice: each is there, and null where it is not known. */
const properties = {
  guid: { ...known('Of the event, as far as it could be read; in lower case.'), format: 'uuid' },
  interface: { enum: ['shipper', 'carrier', null] },
  action: text('As it was published, without the interface where that is known.'),
  reason: text('Why, in one word of a closed list.'),
  place: known('What is wrong, as a JSON pointer into the published body.'),
  detail: known('What is expected there; null where it was no fault of the event.'),
  nearest: known('The nearest routing key that there is, where another was meant.'),
  message_id: known('As it was published.'),
  routing_key: text('As it was published.'),
  rejected_at: { type: 'string', format: 'date-time' },
} satisfies Record<keyof Notice, object>;

export const noticesChannel = {
  address: rejectionsQueue,
  title: 'Notices of rejected events',
  description: `Bound to the fanout exchange \`${otherNoticesExchange}\`. One for each event that was rejected, but for \`newer_format\`; the oldest go after seven days, or beyond 64 MiB. Read them as the user that publishes.`,
  messages: {
    notice: {
      name: 'notice',
      title: 'An event was rejected',
      contentType: 'application/json',
      payload: { type: 'object', properties, required: Object.keys(properties) },
      examples: [
        {
          name: 'notice',
          payload: {
            guid: '0d3f6a0e-61a5-4a6e-9a52-50f6c0b3f7b1',
            interface: 'carrier',
            action: 'order.createt',
            reason: 'unroutable',
            place: null,
            detail:
              'no queue takes key "carrier.order.createt" of exchange "waybell.events": a mistyped action? The nearest is carrier.order.created',
            nearest: 'carrier.order.created',
            message_id: '0d3f6a0e-61a5-4a6e-9a52-50f6c0b3f7b1',
            routing_key: 'carrier.order.createt',
            rejected_at: '2026-11-20T09:30:00.123Z',
          } satisfies Notice,
        },
      ],
    },
  },
  bindings: {
    amqp: {
      is: 'queue',
      queue: { name: rejectionsQueue, durable: true, exclusive: false, autoDelete: false },
      bindingVersion: '0.3.0',
    },
  },
};
