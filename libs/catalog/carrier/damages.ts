import type { Action } from '../action.ts';
import { carrierOrderKeys } from '../keys.ts';

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
