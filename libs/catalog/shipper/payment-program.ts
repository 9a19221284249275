import { type Action, orderKeys } from '../action.ts';
import { anyObject, date, flag, nullable, number, required, target, text, timestamp } from '../members.ts';

/** Actions of the payment program (shipper-webhooks, Payment-program actions). */
export const paymentProgramActions: readonly Action[] = [
  {
    interface: 'shipper',
    name: 'servicepay_settings.updated',
    description: 'the payment program is activated, deactivated or suspended',
    receivers: ['shipper'],
    feature: 'servicepay',
    payload: {
      kind: 'listed',
      members: [
        required(text('flow', 'the flow of the payment program')),
        required(flag('enabled', 'whether the payment program is active')),
        required(flag('suspended', 'whether the payment program is suspended')),
      ],
    },
    keys: {},
    example: { flow: 'MANUAL', enabled: true, suspended: false },
  },
  {
    interface: 'shipper',
    name: 'servicepay.updated',
    description: 'the payment status of an order changes',
    receivers: ['shipper'],
    feature: 'servicepay',
    payload: {
      kind: 'listed',
      members: [
        target('order_guid', 'the related order'),
        required(text('payment_status', 'status of the payment')),
        required(text('processing_status', 'status of its processing')),
        required(number('amount', 'the amount paid')),
        timestamp('charged_at', 'when the shipper was charged'),
        date('charge_date', 'date of the charge, yyyy-mm-dd'),
        date('expected_date', 'date on which the payment is expected, yyyy-mm-dd'),
        timestamp('paid_at', 'when the carrier was paid'),
        timestamp('changed_at', 'when the payment last changed'),
        nullable(anyObject('hold', 'why the payment is held, if it is')),
        nullable(anyObject('refund', 'the refund, if there is one')),
      ],
    },
    keys: orderKeys,
    example: {
      order_guid: '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11',
      payment_status: 'PAID',
      processing_status: 'DONE',
      amount: 1250.5,
      charged_at: '2026-11-20T09:30:00.000+0000',
      charge_date: '2026-11-20',
      expected_date: '2026-11-24',
      paid_at: '2026-11-23T15:00:00.000+0000',
      changed_at: '2026-11-23T15:00:01.000+0000',
      hold: null,
      refund: null,
    },
  },
];
