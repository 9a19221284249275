const listed = (prefix: string, names: string): string[] => names.split(' ').map((name) => `${prefix}${name}`);

/** Order fields allowed in audit_field_set, copied by hand from shipper-webhooks. */
export const orderFields: readonly string[] = [
  ...listed('', 'number purchase_order_number price transport_type inspection_type broker_fee order_instructions'),
  ...listed('', 'loadboard_instructions dispatcher_name sales_representative'),
  ...listed('customer.', 'name business_type address city state zip phone email contact_name contact_title'),
  ...listed('customer.', 'contact_email contact_phone contact_mobile_phone'),
  ...listed('payment.', 'terms method notes amount reference_number'),
  ...listed('customer_payment.', 'terms method notes amount tariff deposit reference_number'),
  ...listed('pickup.', 'first_available_pickup_date date_type schedule_at_by_customer schedule_ends_at_by_customer'),
  ...listed('pickup.', 'scheduled_at schedule_ends_at schedule_at_by_carrier adjusted_date notes'),
  ...listed('pickup.venue.', 'name business_type address city state zip contact_name contact_title contact_email'),
  ...listed('pickup.venue.', 'contact_phone contact_mobile_phone'),
  ...listed('delivery.', 'date_type schedule_at_by_customer schedule_ends_at_by_customer scheduled_at'),
  ...listed('delivery.', 'schedule_ends_at schedule_at_by_carrier adjusted_date notes'),
  ...listed('delivery.venue.', 'name business_type address city state zip contact_name contact_title contact_email'),
  ...listed('delivery.venue.', 'contact_phone contact_mobile_phone'),
];

export const vehicleFields: readonly string[] = listed(
  'vehicles.',
  'make model type year color vin price tariff lot_number',
);

/** The place of a field in `before` and `after`. */
export const placeOf = (field: string): string[] => field.replace(/^vehicles\./, '').split('.');

/** The list has the one name, the only sample the other: both are taken, and the sample's is sent. */
export const otherName = (name: string): string => name.replace('schedule_at_by_carrier', 'scheduled_at_by_carrier');
export const listedName = (name: string): string => name.replace('scheduled_at_by_carrier', 'schedule_at_by_carrier');

/** The place of a field in a notification's `data`. */
export const announcedPlaceOf = (field: string): string[] => placeOf(field).map(otherName);
