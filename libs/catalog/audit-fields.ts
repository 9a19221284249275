import type { AuditNode } from './action.ts';

const under = (path: string, names: readonly string[]): string[] => names.map((name) => `${path}.${name}`);

const venueNames = ['name', 'business_type', 'address', 'city', 'state', 'zip'];
const contactNames = ['contact_name', 'contact_title', 'contact_email', 'contact_phone', 'contact_mobile_phone'];
const appointmentNames = [
  'date_type',
  'schedule_at_by_customer',
  'schedule_ends_at_by_customer',
  'scheduled_at',
  'schedule_ends_at',
  'schedule_at_by_carrier',
  'adjusted_date',
  'notes',
];
const paymentNames = ['terms', 'method', 'notes', 'amount'];
const topNames = [
  'number',
  'purchase_order_number',
  'price',
  'transport_type',
  'inspection_type',
  'broker_fee',
  'order_instructions',
  'loadboard_instructions',
  'dispatcher_name',
  'sales_representative',
];
const customerContactNames = ['phone', 'email', ...contactNames];
const vehicleNames = ['make', 'model', 'type', 'year', 'color', 'vin', 'price', 'tariff', 'lot_number'];

/** Fields that `order.created` and `order.modified` can be limited to (shipper-webhooks, Order and vehicle revision notifications). */
export const orderFields: readonly string[] = [
  ...topNames,
  ...under('customer', [...venueNames, ...customerContactNames]),
  ...under('payment', [...paymentNames, 'reference_number']),
  ...under('customer_payment', [...paymentNames, 'tariff', 'deposit', 'reference_number']),
  ...under('pickup', ['first_available_pickup_date', ...appointmentNames]),
  ...under('pickup.venue', [...venueNames, ...contactNames]),
  ...under('delivery', appointmentNames),
  ...under('delivery.venue', [...venueNames, ...contactNames]),
];

/** Fields that the `vehicle.*` revision actions can be limited to (the same chapter). */
export const vehicleFields: readonly string[] = under('vehicles', vehicleNames);

/** The specification lists one name and shows the other in its only sample: both mean the same. */
const SPELLINGS = { listed: 'schedule_at_by_carrier', shown: 'scheduled_at_by_carrier' };

/** A name in an `audit_field_set` as the lists above have it. */
export function auditFieldOf(name: string): string {
  const [parent, leaf, ...more] = name.split('.');
  return leaf === SPELLINGS.shown && more.length === 0 ? `${parent}.${SPELLINGS.listed}` : name;
}

/** The fields by every name that they have. */
export function spelledOut(fields: readonly string[]): string[] {
  return fields.flatMap((field) => {
    const shown = field.replace(`.${SPELLINGS.listed}`, `.${SPELLINGS.shown}`);
    return shown === field ? [field] : [field, shown];
  });
}

/** The fields by the objects that hold them, in the order listed. The vehicles' prefix is dropped: a vehicle is flat. */
export function auditTree(fields: readonly string[]): readonly AuditNode[] {
  return nodesOf(fields.map((field) => ({ field, path: field.replace(/^vehicles\./, '').split('.') })));
}

function nodesOf(entries: readonly { field: string; path: readonly string[] }[]): AuditNode[] {
  const byName = new Map<string, (typeof entries)[number][]>();
  for (const entry of entries) {
    const [name = ''] = entry.path;
    byName.set(name, [...(byName.get(name) ?? []), entry]);
  }
  return [...byName].map(([name, group]) => {
    const held = group.filter(({ path }) => path.length > 1).map(({ field, path }) => ({ field, path: path.slice(1) }));
    return {
      name,
      announcedAs: name === SPELLINGS.listed ? SPELLINGS.shown : name,
      field: held.length > 0 ? null : (group[0]?.field ?? null),
      nodes: nodesOf(held),
    };
  });
}
