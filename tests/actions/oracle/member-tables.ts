export type Kind =
  | 'guid'
  | 'guids'
  | 'text'
  | 'text of at most 160'
  | 'number'
  | 'decimal'
  | 'whole number'
  | 'flag'
  | 'true'
  | 'false'
  | 'date'
  | 'date-time'
  | 'timestamp'
  | 'object'
  | 'texts'
  | 'cancellation reason'
  | 'load request';

/**
 * `needed`: never missing, and never null. `or null`: null is sent, as a table or a sample shows it. All others may be
 * missing, and null says the same.
 */
export type Row = readonly [name: string, kind: Kind, need?: 'needed' | 'or null'];

const order: Row = ['order_guid', 'guid', 'needed'];
const vehicle: Row = ['vehicle_guid', 'guid', 'needed'];
const vehicles: Row = ['vehicle_guids', 'guids', 'needed'];
const escalation: Row = ['escalation_guid', 'guid', 'needed'];
const papers: readonly Row[] = [
  ['pdf_bol_url', 'text'],
  ['online_bol_url', 'text'],
];

/** Payloads of every family of actions, in the order in which the specifications list their members. */
export const memberTables = {
  order: [order],
  'order of a customer': [order, ['customer_counterparty_guid', 'guid', 'needed']],
  'pickup papers': [order, ...papers],
  'delivery papers': [order, ...papers, ['pdf_delivery_receipt_url', 'text']],
  'order revision': [order],
  'vehicle revision': [order, vehicle],
  offer: [
    ['offer_guid', 'guid', 'needed'],
    order,
    ['carrier_guid', 'guid', 'needed'],
    ['status', 'text', 'needed'],
    ['id', 'whole number'],
    ['order_id', 'whole number'],
  ],
  'load request': [order, ['data', 'load request', 'needed']],
  arrival: [
    order,
    vehicles,
    ['notes', 'text', 'or null'],
    ['date_from', 'date-time', 'needed'],
    ['date_until', 'date-time', 'needed'],
  ],
  position: [vehicles, ['latitude', 'number', 'needed'], ['longitude', 'number', 'needed'], ['address', 'text']],
  'gps on': [vehicles, ['gps_active', 'true', 'needed']],
  'gps off': [vehicles, ['gps_active', 'false', 'needed']],
  'submitted escalation': [order],
  'resolved escalation': [order, ['resolver_guid', 'guid', 'needed'], escalation, ['resolve_reasons', 'texts']],
  'cancelled order': [order],
  'issued insurance': [order, vehicle, ['calculated_premium', 'number', 'needed'], ['personal_link', 'text', 'needed']],
  'canceled insurance': [order, vehicle, ['cancellation_reason', 'cancellation reason', 'needed']],
  'payment settings': [
    ['flow', 'text', 'needed'],
    ['enabled', 'flag', 'needed'],
    ['suspended', 'flag', 'needed'],
  ],
  payment: [
    order,
    ['payment_status', 'text', 'needed'],
    ['processing_status', 'text', 'needed'],
    ['amount', 'number', 'needed'],
    ['charged_at', 'timestamp'],
    ['charge_date', 'date'],
    ['expected_date', 'date'],
    ['paid_at', 'timestamp'],
    ['changed_at', 'timestamp'],
    ['hold', 'object', 'or null'],
    ['refund', 'object', 'or null'],
  ],
  'carrier order': [
    ['id', 'whole number', 'needed'],
    ['status', 'text', 'needed'],
  ],
  'carrier data': [],
} as const satisfies Readonly<Record<string, readonly Row[]>>;

export type Family = keyof typeof memberTables;

export const loadRequestRows: readonly Row[] = [
  ['guid', 'guid', 'needed'],
  ['requested_price', 'decimal'],
  ['pickup_date', 'date-time'],
  ['delivery_date', 'date-time'],
  ['carrier_comment', 'text of at most 160'],
  ['carrier_guid', 'guid', 'needed'],
  ['carrier_email', 'text'],
  ['carrier_phone', 'text'],
  ['carrier_name', 'text'],
  ['carrier_contact_name', 'text'],
  ['carrier_address', 'text'],
  ['carrier_city', 'text'],
  ['carrier_state', 'text'],
  ['carrier_zip', 'text'],
  ['carrier_usdot', 'text'],
];

export const cancellationReasons = ['ORDER_CANCELED', 'VEHICLE_REMOVED', 'VEHICLE_MODIFIED', 'CANCELED_VIA_INSURER'];

/** Links without which nothing is sent. */
export const neededLinks: Partial<Record<Family, readonly string[]>> = {
  'pickup papers': ['pdf_bol_url', 'online_bol_url'],
  'delivery papers': ['pdf_bol_url', 'online_bol_url', 'pdf_delivery_receipt_url'],
};

/** Families whose other members are sent on as they came; all others leave them out. */
export const openFamilies: readonly Family[] = ['submitted escalation', 'cancelled order', 'carrier data'];
