import { type Action, orderKeys } from '../action.ts';
import { target, text } from '../members.ts';

const orderGuid = target('order_guid', 'the related order');
const example = { order_guid: '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11' };

const order = (name: string, description: string): Action => ({
  interface: 'shipper',
  name,
  description,
  receivers: ['shipper'],
  payload: { kind: 'listed', members: [orderGuid] },
  keys: orderKeys,
  example,
});

const pdfBolUrl = text('pdf_bol_url', 'the bill of lading as PDF');
const onlineBolUrl = text('online_bol_url', 'the bill of lading as a page');
const pdfDeliveryReceiptUrl = text('pdf_delivery_receipt_url', 'the delivery receipt as PDF');
const linkExample = {
  ...example,
  pdf_bol_url: 'https://files.example.com/bol/1042.pdf',
  online_bol_url: 'https://example.com/bol/1042',
};

/** Actions of orders that announce the order and little more (shipper-webhooks, Order actions). */
export const orderActions: readonly Action[] = [
  order('order.cancel', 'order is canceled by the shipper'),
  {
    ...order('order.submitted_by_customer', 'a customer submits the order (customer portal or shipper-to-broker flow)'),
    payload: {
      kind: 'listed',
      members: [orderGuid, target('customer_counterparty_guid', 'the customer that submitted the order')],
    },
    example: { ...example, customer_counterparty_guid: '0e6f2c62-93a4-4b7a-8f57-0f1f6c1e2d33' },
  },
  { ...order('order.picked_up', 'order is picked up'), ignorable: true },
  order(
    'order.picked_up.ignored',
    'order with an active offer was marked delivered by hand, then the carrier picks it up',
  ),
  { ...order('order.delivered', 'order is delivered'), ignorable: true },
  order(
    'order.delivered.ignored',
    'order with an active offer was marked delivered by hand, then the carrier delivers it',
  ),
  {
    ...order('order.picked_up_bol', 'pickup bill of lading becomes available (pickup inspection sync finished)'),
    payload: {
      kind: 'listed',
      members: [orderGuid, pdfBolUrl, onlineBolUrl],
      links: ['pdf_bol_url', 'online_bol_url'],
    },
    example: linkExample,
  },
  {
    ...order('order.delivered_bol', 'delivery bill of lading becomes available (delivery inspection sync finished)'),
    payload: {
      kind: 'listed',
      members: [orderGuid, pdfBolUrl, onlineBolUrl, pdfDeliveryReceiptUrl],
      links: ['pdf_bol_url', 'online_bol_url', 'pdf_delivery_receipt_url'],
    },
    example: { ...linkExample, pdf_delivery_receipt_url: 'https://files.example.com/receipt/1042.pdf' },
  },
  order('order.paid', 'shipper marks the order paid to the carrier'),
  order('order.unmark_as_paid', 'shipper unmarks the order as paid to the carrier'),
  order('order.customer_paid', 'order is marked paid by the customer'),
  order('order.invoiced', 'order is invoiced by the carrier'),
  order('order.customer_invoiced', 'order is invoiced to the customer'),
  order('order.archived', 'order is archived'),
  order('order.unarchived', 'order is unarchived'),
  order('order.marked_as_on_hold', 'shipper marks the order on hold'),
  order('order.unmarked_as_on_hold', 'shipper unmarks the order as on hold'),
  order(
    'order.marked_as_delivery_verified',
    'shipper marks the order delivery verified (manual flow of the payment program)',
  ),
  order('order.unmarked_as_delivery_verified', 'shipper unmarks delivery verified'),
  order('order.posted_to_slb', 'order is posted to the load board'),
  order('order.removed_from_slb', 'order is removed from the load board'),
  order('order.booked', 'order is booked by a preferred carrier through the load board'),
  order('order.manually_marked_as_new', 'order is manually marked new'),
  order('order.manually_marked_as_pending', 'order is manually marked pending'),
  order('order.manually_marked_as_accepted', 'shipper manually marks the order accepted'),
  order('order.manually_marked_as_invoiced', 'shipper manually marks the order invoiced by the carrier'),
  order('order.manually_unmarked_as_invoiced', 'shipper manually unmarks the order as invoiced by the carrier'),
  order('order.manually_marked_as_picked_up', 'order is manually marked picked up'),
  order('order.manually_marked_as_delivered', 'order is manually marked delivered'),
  order('order.rolled_back_manual_status_change', 'a manual status change is rolled back'),
  order('order.removed', 'order is removed'),
  order('order.restored', 'order is restored'),
];
