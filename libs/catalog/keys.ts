/**
 * The members by which people name what an event is about, beside guids, and what each is a key of. A member below the top
 * that is called `id`, `number` or `guid` is named with the object that it is in: `vehicle_id`.
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
