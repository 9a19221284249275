export type Interface = 'shipper' | 'carrier';

/** A kind of account that can receive an event; the event names the guid of each. */
export type Party = 'shipper' | 'broker' | 'carrier';

/** A feature that is switched on for an account before an action is listed there and can be subscribed to. */
export type Feature = 'insurance' | 'servicepay';

/** A JSON Schema, 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One member of a payload, as upstream sends it. Members are announced in the order in which they are listed. */
export type PayloadMember = {
  readonly name: string;
  /** Schema of the announced data. */
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** Announced as null where upstream sends that; of all others null is left out, as if it were absent. */
  readonly isNullable?: true;
  /** Announced in UTC in the form of the interface, whatever the offset upstream wrote; all else goes as received. */
  readonly isTimestamp?: true;
  /** Members of an object of which, again, only the listed ones are announced. */
  readonly members?: readonly PayloadMember[];
};

/**
 * How a payload becomes the data of a notification. - `listed`: the listed members only; nothing while one of `links` is missing.
 * - `open`: the listed members, then every other one unchanged. - `revision`: the listed members (the target guids); in the
 * revision form also who changed what. - `data`: the listed members as `data`, or the whole payload if none are listed.
 */
type Payload =
  | { readonly kind: 'listed'; readonly members: readonly PayloadMember[]; readonly links?: readonly string[] }
  | { readonly kind: 'open'; readonly members: readonly PayloadMember[] }
  | { readonly kind: 'revision'; readonly members: readonly PayloadMember[]; readonly revision: RevisionMember }
  | { readonly kind: 'data'; readonly members: readonly PayloadMember[] | null };

/** The member `revision` of a payload, and its announced fields. */
export type RevisionMember = {
  readonly change: 'created' | 'modified' | 'deleted';
  readonly member: PayloadMember;
  readonly auditTree: readonly AuditNode[];
};

/** One field of an order or a vehicle, or an object that holds such fields. */
export type AuditNode = {
  /** Its key in `before` and `after`. */
  readonly name: string;
  /** Its key in the notification's `data`; taken in `before` and `after` as well. */
  readonly announcedAs: string;
  /** Its name in `audit_field_set`; null for an object that only holds fields. */
  readonly field: string | null;
  readonly nodes: readonly AuditNode[];
};

/** Everything the product knows about one action. */
export type Action = {
  readonly interface: Interface;
  readonly name: string;
  /** Completes the sentence "sent when …". */
  readonly description: string;
  readonly receivers: readonly Party[];
  readonly feature?: Feature;
  /** A deprecated action is no longer listed but can still be subscribed to; RFC 3339 dates. */
  readonly deprecated?: { readonly since: string; readonly sunset: string };
  /** Has a variant `<name>.ignored`, an action of its own. */
  readonly ignorable?: true;
  /** The names that `audit_field_set` may hold, in the order in which changes are announced. */
  readonly auditFields?: readonly string[];
  readonly payload: Payload;
  /** The members that people search by; guids are keys without being named here. */
  readonly keys: KeyMembers;
  /** A payload as upstream might send it. */
  readonly example: Readonly<Record<string, unknown>>;
};

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
