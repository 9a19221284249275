/** What a member may be. All but `data` and the closed lists may be null unless they are needed. */
export type Kind =
  | 'guid'
  | 'guids'
  | 'text'
  | 'text of at most 160'
  | 'number'
  | 'number or text'
  | 'whole number'
  | 'flag'
  | 'true'
  | 'false'
  | 'timestamp'
  | 'object'
  | 'texts'
  | 'cancellation reason'
  | 'load request';

export type Row = readonly [name: string, kind: Kind, need?: 'needed'];

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
  'order of a customer': [order, ['customer_counterparty_guid', 'guid']],
  'pickup papers': [order, ...papers],
  'delivery papers': [order, ...papers, ['pdf_delivery_receipt_url', 'text']],
  'order revision': [order],
  'vehicle revision': [order, vehicle],
  offer: [
    ['offer_guid', 'guid', 'needed'],
    order,
    ['carrier_guid', 'guid'],
    ['status', 'text'],
    ['id', 'whole number'],
    ['order_id', 'whole number'],
  ],
  'load request': [order, ['data', 'load request', 'needed']],
  arrival: [order, vehicles, ['notes', 'text'], ['date_from', 'text'], ['date_until', 'text']],
  position: [vehicles, ['latitude', 'number'], ['longitude', 'number'], ['address', 'text']],
  'gps on': [vehicles, ['gps_active', 'true', 'needed']],
  'gps off': [vehicles, ['gps_active', 'false', 'needed']],
  'submitted escalation': [order, escalation],
  'resolved escalation': [order, ['resolver_guid', 'guid'], escalation, ['resolve_reasons', 'texts']],
  'cancelled order': [order],
  'issued insurance': [order, vehicle, ['calculated_premium', 'number'], ['personal_link', 'text']],
  'canceled insurance': [order, vehicle, ['cancellation_reason', 'cancellation reason', 'needed']],
  'payment settings': [
    ['flow', 'text'],
    ['enabled', 'flag'],
    ['suspended', 'flag'],
  ],
  payment: [
    order,
    ['payment_status', 'text'],
    ['processing_status', 'text'],
    ['amount', 'number'],
    ['charged_at', 'timestamp'],
    ['charge_date', 'text'],
    ['expected_date', 'text'],
    ['paid_at', 'timestamp'],
    ['changed_at', 'timestamp'],
    ['hold', 'object'],
    ['refund', 'object'],
  ],
  'carrier order': [
    ['id', 'whole number'],
    ['status', 'text'],
  ],
  'carrier data': [],
} as const satisfies Readonly<Record<string, readonly Row[]>>;

export type Family = keyof typeof memberTables;

export const loadRequestRows: readonly Row[] = [
  ['guid', 'guid', 'needed'],
  ['requested_price', 'number or text'],
  ['pickup_date', 'text'],
  ['delivery_date', 'text'],
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
