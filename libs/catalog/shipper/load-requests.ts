import { type Action, orderKeys } from '../action.ts';
import { decimal, moment, object, required, shortText, target, text } from '../members.ts';

const COMMENT_CODE_POINTS = 160;

const loadRequest = (name: string, description: string): Action => ({
  interface: 'shipper',
  name,
  description,
  receivers: ['shipper'],
  payload: {
    kind: 'listed',
    members: [
      target('order_guid', 'the related order'),
      required(
        object('data', 'the load request', [
          target('guid', 'the load request'),
          decimal('requested_price', 'price suggested by the carrier'),
          moment('pickup_date', 'pickup date suggested by the carrier, as received'),
          moment('delivery_date', 'delivery date suggested by the carrier, as received'),
          shortText('carrier_comment', 'carrier note, at most 160 characters', COMMENT_CODE_POINTS),
          target('carrier_guid', 'the carrier that sent the request'),
          text('carrier_email', 'carrier e-mail'),
          text('carrier_phone', 'carrier phone'),
          text('carrier_name', 'carrier business name'),
          text('carrier_contact_name', 'carrier contact person'),
          text('carrier_address', 'carrier address'),
          text('carrier_city', 'carrier city'),
          text('carrier_state', 'carrier state'),
          text('carrier_zip', 'carrier ZIP'),
          text('carrier_usdot', 'carrier USDOT number'),
        ]),
      ),
    ],
  },
  keys: { ...orderKeys, data_guid: 'load_request_guid' },
  example: {
    order_guid: '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11',
    data: {
      guid: '3c5e7f90-a1b2-4d6f-9081-2b4d6f809c99',
      requested_price: '1100.00',
      pickup_date: '2026-11-21T08:00:00.000+0000',
      delivery_date: '2026-11-23T17:00:00.000+0000',
      carrier_comment: 'Can load from 8 in the morning',
      carrier_guid: '9a3c5e7f-1b2d-4f6a-8c0e-2d4f6a8b0c77',
      carrier_email: 'dispatch@swifthaul.example.com',
      carrier_phone: '+1 555 010 0200',
      carrier_name: 'Swift Haul LLC',
      carrier_contact_name: 'Ann Lee',
      carrier_address: '12 Depot Road',
      carrier_city: 'Austin',
      carrier_state: 'TX',
      carrier_zip: '78701',
      carrier_usdot: '1234567',
    },
  },
});

/** Actions of load requests (shipper-webhooks, Load request actions). */
export const loadRequestActions: readonly Action[] = [
  loadRequest('load_request.created', 'carrier sends a load request to the shipper'),
  loadRequest('load_request.updated', 'carrier updates own request (price, dates and so on)'),
  loadRequest('load_request.canceled_by_carrier', 'carrier cancels own request'),
  loadRequest('load_request.declined_by_shipper', 'shipper declines the request'),
];
