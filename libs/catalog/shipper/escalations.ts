import { type Action, orderKeys } from '../action.ts';
import { target, texts } from '../members.ts';

const orderGuid = target('order_guid', 'the related order');
const escalationGuid = target('escalation_guid', 'the escalation');
const orderExample = { order_guid: '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11' };
const escalationExample = { ...orderExample, escalation_guid: '4d6f8091-b2c3-4e70-a192-3c5e7f90ad11' };

/** Actions between shipper and broker (shipper-webhooks, Shipper-to-broker actions). */
export const escalationActions: readonly Action[] = [
  {
    interface: 'shipper',
    name: 'escalation.submitted',
    description: 'broker submits an escalation',
    receivers: ['shipper'],
    payload: { kind: 'open', members: [orderGuid] },
    keys: orderKeys,
    example: { ...escalationExample, comment: 'Vehicle is not where it should be' },
  },
  {
    interface: 'shipper',
    name: 'escalation.resolved',
    description: 'shipper resolves the escalation',
    receivers: ['shipper', 'broker'],
    payload: {
      kind: 'listed',
      members: [
        orderGuid,
        target('resolver_guid', 'who resolved the escalation'),
        escalationGuid,
        texts('resolve_reasons', 'reason code to reason text'),
      ],
    },
    keys: orderKeys,
    example: {
      ...escalationExample,
      resolver_guid: '1d7a6b3c-0c59-4c5d-b0b5-7e3f2a9d4c66',
      resolve_reasons: {
        CHARGES_DUE: 'Charges are due at the pickup location',
        VEHICLE_IS_NOT_AT_LOCATION: 'The vehicle is not at the location',
      },
    },
  },
  {
    interface: 'shipper',
    name: 'order.cancelled_by_customer',
    description: 'shipper cancels the order',
    receivers: ['broker'],
    payload: { kind: 'open', members: [orderGuid] },
    keys: orderKeys,
    example: { ...orderExample, reason: 'Sold locally' },
  },
];
