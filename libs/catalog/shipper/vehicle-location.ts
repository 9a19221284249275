import { type Action, type PayloadMember, orderKeys } from '../action.ts';
import {
  coordinate,
  flag,
  listOf,
  moment,
  nullable,
  number,
  oneOf,
  required,
  target,
  targets,
  text,
} from '../members.ts';

const vehicleExample = {
  vehicle_guids: ['c2f1f1d4-2a0b-4d0e-8f0a-6b8e5f2f9c44', 'd3a2b1c0-4f5e-4d6c-9b7a-7c9f6a3e0d55'],
};

const vehicle = (entry: {
  name: string;
  description: string;
  members: readonly PayloadMember[];
  example: object;
}): Action => ({
  interface: 'shipper',
  name: entry.name,
  description: entry.description,
  receivers: ['shipper'],
  payload: { kind: 'listed', members: entry.members },
  keys: orderKeys,
  example: { ...vehicleExample, ...entry.example },
});

const eta = (name: string, description: string): Action =>
  vehicle({
    name,
    description,
    members: [
      target('order_guid', 'the related order'),
      targets('vehicle_guids', 'vehicles whose ETA was updated'),
      nullable(text('notes', 'optional driver notes')),
      required(moment('date_from', 'start of the ETA window, as received')),
      required(moment('date_until', 'end of the ETA window, as received')),
    ],
    example: {
      order_guid: '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11',
      notes: null,
      date_from: '2026-11-21T08:00:00.000+0000',
      date_until: '2026-11-21T12:00:00.000+0000',
    },
  });

const gps = (name: string, description: string, isActive: boolean): Action =>
  vehicle({
    name,
    description,
    members: [
      targets('vehicle_guids', 'vehicles whose GPS status changed together in one batch'),
      required(oneOf('gps_active', 'true for activated, false for deactivated', [isActive])),
    ],
    example: { gps_active: isActive },
  });

/** Actions about where vehicles are (shipper-webhooks, Vehicle location actions). */
export const vehicleLocationActions: readonly Action[] = [
  eta('vehicle.pickup_eta_updated_by_driver', 'driver updates the pickup ETA for a vehicle'),
  eta('vehicle.delivery_eta_updated_by_driver', 'driver updates the delivery ETA for a vehicle'),
  vehicle({
    name: 'vehicle.driver_location_updated',
    description: 'a significant location change of the driver is received during transport',
    members: [
      targets('vehicle_guids', 'vehicles whose location was updated'),
      required(number('latitude', 'current latitude')),
      required(number('longitude', 'current longitude')),
      text('address', 'current address, reverse geocoded'),
    ],
    example: { latitude: 30.267153, longitude: -97.743061, address: '301 Congress Ave, Austin, TX' },
  }),
  gps('vehicle.gps_activated', 'the first GPS location is received for picked-up vehicles (GPS on)', true),
  gps('vehicle.gps_deactivated', 'no GPS location for more than one hour (GPS off)', false),
];

/**
 * The location of a driver, as upstream reports it. No client can subscribe to it: clients get the three GPS
 * actions above, which Waybell publishes itself.
 */
export const locationReported: Action = {
  interface: 'shipper',
  name: 'vehicle.location_reported',
  description: 'a driver reports where the vehicles are; never sent to clients',
  receivers: ['shipper'],
  payload: {
    kind: 'listed',
    members: [
      required(
        listOf('vehicles', 'the vehicles that the driver has, each once', [
          target('guid', 'the vehicle'),
          required(flag('picked_up', 'whether it is in transport: only then it is announced')),
        ]),
      ),
      required(coordinate('latitude', 'degrees, north is positive', 90)),
      required(coordinate('longitude', 'degrees, east is positive', 180)),
      required(moment('recorded_at', 'when the position was taken')),
      text('address', 'what is there, where it is known'),
    ],
  },
  keys: orderKeys,
  example: {
    vehicles: vehicleExample.vehicle_guids.map((guid) => ({ guid, picked_up: true })),
    latitude: 30.267153,
    longitude: -97.743061,
    recorded_at: '2026-11-20T09:29:58.500Z',
    address: '301 Congress Ave, Austin, TX',
  },
};
