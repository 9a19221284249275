import type { Action } from '../action.ts';
import { deprecated, integer, required, target, text } from '../members.ts';

const offer = (name: string, description: string): Action => ({
  interface: 'shipper',
  name,
  description,
  receivers: ['shipper'],
  payload: {
    kind: 'listed',
    members: [
      target('offer_guid', 'the load offer'),
      target('order_guid', 'the related order'),
      target('carrier_guid', 'the carrier the offer was sent to'),
      required(text('status', 'the order status')),
      deprecated(integer('id', 'primary key of the offer; deprecated')),
      deprecated(integer('order_id', 'primary key of the order; deprecated')),
    ],
  },
  keys: { id: 'offer_id', order_id: 'order_id' },
  example: {
    offer_guid: '2b4d6f80-91a3-4c5e-8f70-1a3c5e7f9b88',
    order_guid: '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11',
    carrier_guid: '9a3c5e7f-1b2d-4f6a-8c0e-2d4f6a8b0c77',
    status: 'new',
    id: 770133,
    order_id: 901244,
  },
});

/** Actions of load offers (shipper-webhooks, Offer actions). */
export const offerActions: readonly Action[] = [
  offer('offer.sent', 'load offer is sent'),
  offer('offer.sent.failed', 'sending a load offer failed'),
  { ...offer('offer.accepted', 'carrier accepts the offer'), ignorable: true },
  offer('offer.accepted.ignored', 'carrier accepts after the shipper manually marked the order picked up or delivered'),
  {
    ...offer('offer.updated_to_accepted', 'carrier reverts the order status from picked_up to new'),
    ignorable: true,
  },
  offer(
    'offer.updated_to_accepted.ignored',
    'carrier reverts from delivered to new, or from delivered to picked_up to new',
  ),
  { ...offer('offer.declined', 'offer is declined'), ignorable: true },
  offer('offer.declined.ignored', 'carrier declines after the shipper manually marked the order delivered'),
  offer('offer.canceled', 'shipper cancels the offer'),
  { ...offer('offer.canceled_by_carrier', 'carrier cancels the offer'), ignorable: true },
  offer('offer.canceled_by_carrier.ignored', 'carrier cancels after the order was delivered'),
];
