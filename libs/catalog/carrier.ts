import { type Action, carrierOrderKeys } from './action.ts';
import { integer, required, text } from './members.ts';

const order = (name: string, description: string): Action => ({
  interface: 'carrier',
  name,
  description,
  receivers: ['carrier'],
  payload: { kind: 'data', members: null },
  keys: carrierOrderKeys,
  example: { id: 4021, number: 'WB-1042' },
});

/** Actions of orders on the carrier platform (carrier-webhooks, Events). */
export const carrierOrderActions: readonly Action[] = [
  {
    ...order('order.created', 'a new order is created'),
    payload: {
      kind: 'data',
      members: [required(integer('id', 'the order')), required(text('status', 'the order status'))],
    },
    example: { id: 4021, status: 'new' },
  },
  order('order.assigned', 'an order is assigned to a driver'),
  order('order.updated', 'order details are modified'),
  order('order.picked_up', 'an order is picked up'),
  order('order.delivered', 'an order is delivered'),
  order('order.cancelled', 'an order is cancelled'),
];

const damage = (name: string, description: string): Action => ({
  interface: 'carrier',
  name,
  description,
  receivers: ['carrier'],
  payload: { kind: 'data', members: null },
  keys: { ...carrierOrderKeys, id: 'damage_id' },
  example: { id: 318, order_id: 4021, type: 'scratch' },
});

/** Actions of damage reports on the carrier platform (carrier-webhooks, Events). */
export const damageActions: readonly Action[] = [
  damage('damage.created', 'a damage report is created'),
  damage('damage.deleted', 'a damage report is deleted'),
];
