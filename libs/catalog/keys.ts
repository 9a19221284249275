/**
 * The members that identify the objects of an event, in addition to guids, with the kind of each. A member below the top that is
 * called `id`, `number` or `guid` is named with its object: `vehicle_id`.
 */
export type KeyMembers = Readonly<Record<string, string>>;

/** Fields of orders and vehicles that are keys, wherever they stand. */
export const orderKeys: KeyMembers = {
  number: 'number',
  order_number: 'number',
  purchase_order_number: 'purchase_order_number',
  vin: 'vin',
};

/** The carrier platform numbers its orders; any other member of an order is up to the platform. */
export const carrierOrderKeys: KeyMembers = { ...orderKeys, id: 'order_id', order_id: 'order_id' };
