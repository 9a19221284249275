import { type Action, orderKeys } from '../action.ts';
import { number, oneOf, required, target, text } from '../members.ts';

/** Why an issued policy ended, by value (shipper-webhooks, Insurance notifications). */
const cancellationReasons: ReadonlyMap<string, string> = new Map([
  ['ORDER_CANCELED', 'the order was canceled or archived'],
  ['VEHICLE_REMOVED', 'the insured vehicle was removed from the order'],
  ['VEHICLE_MODIFIED', 'the insured vehicle was changed in a way that voids the policy'],
  ['CANCELED_VIA_INSURER', "canceled outside the service, typically by the client in the insurer's portal"],
]);

const insured = [target('order_guid', 'the related order'), target('vehicle_guid', 'the insured vehicle')];
const example = {
  order_guid: '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11',
  vehicle_guid: 'c2f1f1d4-2a0b-4d0e-8f0a-6b8e5f2f9c44',
};

/** Actions of insurance policies (shipper-webhooks, Insurance actions). */
export const insuranceActions: readonly Action[] = [
  {
    interface: 'shipper',
    name: 'insurance.issued',
    description: 'the insurer actually issues a policy for a vehicle on the order (not when it is requested)',
    receivers: ['shipper'],
    feature: 'insurance',
    payload: {
      kind: 'listed',
      members: [
        ...insured,
        required(number('calculated_premium', 'issued premium in USD; may differ from an earlier quote')),
        required(text('personal_link', 'link to the insurance portal for the order')),
      ],
    },
    keys: orderKeys,
    example: { ...example, calculated_premium: 84.5, personal_link: 'https://insurer.example.com/p/1042' },
  },
  {
    interface: 'shipper',
    name: 'insurance.canceled',
    description:
      'an issued policy is canceled, including as a side effect of an order change (not always a deliberate cancellation)',
    receivers: ['shipper'],
    feature: 'insurance',
    payload: {
      kind: 'listed',
      members: [
        ...insured,
        required(oneOf('cancellation_reason', 'why the policy was canceled', [...cancellationReasons.keys()])),
      ],
    },
    keys: orderKeys,
    example: { ...example, cancellation_reason: 'VEHICLE_REMOVED' },
  },
];
