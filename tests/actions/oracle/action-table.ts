import type { Family } from './member-tables.ts';

export type Party = 'shipper' | 'broker' | 'carrier';

export type ActionRow = {
  interface: 'shipper' | 'carrier';
  name: string;
  family: Family;
  receivers: readonly Party[];
  gate: string | undefined;
};

/** `!` marks an action that has a variant `.ignored`. */
const shipperActions: readonly (readonly [family: Family, names: string])[] = [
  ['order revision', 'order.created order.modified'],
  ['vehicle revision', 'vehicle.created vehicle.modified vehicle.deleted'],
  ['order', 'order.cancel order.picked_up! order.delivered! order.paid order.unmark_as_paid order.customer_paid'],
  ['order', 'order.invoiced order.customer_invoiced order.archived order.unarchived order.marked_as_on_hold'],
  ['order', 'order.unmarked_as_on_hold order.marked_as_delivery_verified order.unmarked_as_delivery_verified'],
  ['order', 'order.posted_to_slb order.removed_from_slb order.booked order.manually_marked_as_new'],
  ['order', 'order.manually_marked_as_pending order.manually_marked_as_accepted order.manually_marked_as_invoiced'],
  ['order', 'order.manually_unmarked_as_invoiced order.manually_marked_as_picked_up'],
  ['order', 'order.manually_marked_as_delivered order.rolled_back_manual_status_change'],
  ['order', 'order.removed order.restored'],
  ['order of a customer', 'order.submitted_by_customer'],
  ['pickup papers', 'order.picked_up_bol'],
  ['delivery papers', 'order.delivered_bol'],
  ['offer', 'offer.sent offer.sent.failed offer.accepted! offer.updated_to_accepted! offer.declined!'],
  ['offer', 'offer.canceled offer.canceled_by_carrier!'],
  ['load request', 'load_request.created load_request.updated'],
  ['load request', 'load_request.canceled_by_carrier load_request.declined_by_shipper'],
  ['arrival', 'vehicle.pickup_eta_updated_by_driver vehicle.delivery_eta_updated_by_driver'],
  ['position', 'vehicle.driver_location_updated'],
  ['gps on', 'vehicle.gps_activated'],
  ['gps off', 'vehicle.gps_deactivated'],
  ['submitted escalation', 'escalation.submitted'],
  ['resolved escalation', 'escalation.resolved'],
  ['cancelled order', 'order.cancelled_by_customer'],
  ['issued insurance', 'insurance.issued'],
  ['canceled insurance', 'insurance.canceled'],
  ['payment settings', 'servicepay_settings.updated'],
  ['payment', 'servicepay.updated'],
];

const carrierActions: readonly (readonly [family: Family, names: string])[] = [
  ['carrier order', 'order.created'],
  ['carrier data', 'order.assigned order.updated order.picked_up order.delivered order.cancelled'],
  ['carrier data', 'damage.created damage.deleted'],
];

const receivers: Readonly<Record<string, readonly Party[]>> = {
  'escalation.resolved': ['shipper', 'broker'],
  'order.cancelled_by_customer': ['broker'],
};

/** Every action of both Events chapters, copied from them by hand. */
export const actionTable: readonly ActionRow[] = [
  ...shipperActions.flatMap(([family, names]) => spelledOut(names).map((name) => shipperAction(name, family))),
  ...carrierActions.flatMap(([family, names]) =>
    spelledOut(names).map((name): ActionRow => {
      return { interface: 'carrier', name, family, receivers: ['carrier'], gate: undefined };
    }),
  ),
];

export const keyOf = (action: Pick<ActionRow, 'interface' | 'name'>): string => `${action.interface}.${action.name}`;

/** The names with a variant `.ignored`. */
export const ignorable: readonly string[] = shipperActions.flatMap(([, names]) =>
  names.split(' ').flatMap((name) => (name.endsWith('!') ? [name.slice(0, -1)] : [])),
);

function shipperAction(name: string, family: Family): ActionRow {
  return { interface: 'shipper', name, family, receivers: receivers[name] ?? ['shipper'], gate: gateOf(name) };
}

function gateOf(name: string): string | undefined {
  if (name.startsWith('insurance.')) return 'insurance';
  return name.startsWith('servicepay') ? 'servicepay' : undefined;
}

function spelledOut(names: string): string[] {
  return names
    .split(' ')
    .flatMap((name) => (name.endsWith('!') ? [name.slice(0, -1), `${name.slice(0, -1)}.ignored`] : [name]));
}
