import { type Action, type AuditNode, type PayloadMember, type RevisionMember, orderKeys } from '../action.ts';
import { auditTree, orderFields, vehicleFields } from '../audit-fields.ts';
import { anyValue, guid, object, required, target, text } from '../members.ts';

type RevisionChange = RevisionMember['change'];

const orderGuid = target('order_guid', 'the related order');
const vehicleGuid = target('vehicle_guid', 'the vehicle');
const orderExample = { order_guid: '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11' };
const vehicleExample = { ...orderExample, vehicle_guid: 'c2f1f1d4-2a0b-4d0e-8f0a-6b8e5f2f9c44' };
const byUser = {
  guid: '8f4b9c1e-6a6f-4f53-9e0a-3c1f5e7d2b55',
  user_guid: '1d7a6b3c-0c59-4c5d-b0b5-7e3f2a9d4c66',
};
const byCarrier = {
  guid: '8f4b9c1e-6a6f-4f53-9e0a-3c1f5e7d2b55',
  carrier: {
    guid: '9a3c5e7f-1b2d-4f6a-8c0e-2d4f6a8b0c77',
    name: 'Swift Haul LLC',
    phone: '+1 555 010 0200',
    email: 'dispatch@swifthaul.example.com',
    contact_name: 'Ann Lee',
  },
};

const carrier = object('carrier', 'the carrier who made the change, where one did', [
  target('guid', 'the carrier who made the change'),
  text('name', 'carrier business name'),
  text('phone', 'carrier phone'),
  text('email', 'carrier e-mail'),
  text('contact_name', 'carrier contact person'),
]);

/** Not both: a change is made by a user, by a carrier, or by the system. */
const oneActor = {
  not: {
    required: ['user_guid', 'carrier'],
    properties: { user_guid: { type: 'string' }, carrier: { type: 'object' } },
  },
};

function revision(change: RevisionChange, fields: readonly string[]): RevisionMember {
  const tree = auditTree(fields);
  const values = tree.flatMap(valueMembers);
  const member = object('revision', 'what changed, and who changed it', [
    target('guid', 'the revision'),
    guid('user_guid', 'the user who made the change'),
    carrier,
    ...(change === 'created' ? [] : [required(object('before', 'values before the change', values))]),
    ...(change === 'deleted' ? [] : [required(object('after', 'values after the change', values))]),
  ]);
  return { change, auditTree: tree, member: required({ ...member, schema: { ...member.schema, ...oneActor } }) };
}

function valueMembers({ name, announcedAs, field, nodes }: AuditNode): PayloadMember[] {
  if (field === null)
    return [{ name, schema: { type: 'object' }, isRequired: false, members: nodes.flatMap(valueMembers) }];
  return [...new Set([name, announcedAs])].map(anyValue);
}

const order = (change: RevisionChange, description: string, example: object): Action => ({
  interface: 'shipper',
  name: `order.${change}`,
  description,
  receivers: ['shipper'],
  auditFields: orderFields,
  payload: { kind: 'revision', members: [orderGuid], revision: revision(change, orderFields) },
  keys: orderKeys,
  example: { ...orderExample, revision: example },
});

const vehicle = (change: RevisionChange, description: string, example: object): Action => ({
  interface: 'shipper',
  name: `vehicle.${change}`,
  description,
  receivers: ['shipper'],
  auditFields: vehicleFields,
  payload: { kind: 'revision', members: [orderGuid, vehicleGuid], revision: revision(change, vehicleFields) },
  keys: orderKeys,
  example: { ...vehicleExample, revision: example },
});

/** Actions that can carry old and new values (shipper-webhooks, Order and vehicle revision notifications). */
export const revisionActions: readonly Action[] = [
  order('created', 'order is created', {
    ...byUser,
    after: { number: 'WB-1042', price: 1250.5, pickup: { venue: { name: 'North Yard', city: 'Austin' } } },
  }),
  order('modified', 'order is updated', {
    ...byCarrier,
    before: { pickup: { schedule_at_by_carrier: null, notes: 'ring twice' } },
    after: { pickup: { schedule_at_by_carrier: '2026-11-21T10:00:00.000+0000', notes: 'ring twice' } },
  }),
  vehicle('created', 'vehicle is created', {
    ...byUser,
    after: { make: 'Volvo', model: 'V60', vin: 'YV1DZ8256C2271234' },
  }),
  vehicle('modified', 'vehicle is updated', {
    ...byUser,
    before: { color: 'red', year: 2019 },
    after: { color: 'blue', year: 2019 },
  }),
  vehicle('deleted', 'vehicle is deleted', {
    ...byUser,
    before: { make: 'Volvo', model: 'V60', vin: 'YV1DZ8256C2271234' },
  }),
];
