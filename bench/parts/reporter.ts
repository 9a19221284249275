import { randomUUID } from 'node:crypto';
import { connect } from 'amqplib';
import { serve } from '../lib/part.ts';

/** An upstream that reports positions. */
export type ReporterCommands = typeof commands;

export type Reports = {
  amqpUrl: string;
  exchange: string;
  routingKey: string;
  count: number;
  /** Vehicles, in turn, of `shippers`. */
  vehicles: number;
  shippers: number;
  /** One in so many has moved far enough for a notification; 0: none. */
  movedOneIn: number;
};

const UNCONFIRMED = 2_000;
const JITTER_DEGREES = 0.001;
const LEG_DEGREES = 0.02;

/** Legs that vehicles have driven so far. */
const legs = new Map<number, number>();

const commands = {
  /** Publishes reports, one vehicle each; resolves when all are confirmed. */
  async report({ amqpUrl, exchange, routingKey, count, ...fleet }: Reports): Promise<void> {
    const connection = await connect(amqpUrl, { noDelay: true });
    const channel = await connection.createConfirmChannel();
    const options = { persistent: true, contentType: 'application/json' };
    for (let published = 0; published < count;) {
      for (const end = Math.min(published + UNCONFIRMED, count); published < end; published += 1) {
        channel.publish(exchange, routingKey, aReport(published, fleet), options);
      }
      await channel.waitForConfirms();
    }
    await channel.close();
    await connection.close();
  },
};

function aReport(place: number, fleet: Pick<Reports, 'vehicles' | 'shippers' | 'movedOneIn'>): Buffer {
  const vehicle = place % fleet.vehicles;
  const hasMoved = fleet.movedOneIn > 0 && Math.random() < 1 / fleet.movedOneIn;
  const leg = (legs.get(vehicle) ?? 0) + Number(hasMoved);
  legs.set(vehicle, leg);
  const now = new Date().toISOString();
  return Buffer.from(
    JSON.stringify({
      guid: randomUUID(),
      interface: 'shipper',
      action: 'vehicle.location_reported',
      occurred_at: now,
      parties: { shipper: guidOf(1, vehicle % fleet.shippers) },
      payload: {
        vehicles: [{ guid: guidOf(2, vehicle), picked_up: true }],
        latitude: leg * LEG_DEGREES + Math.random() * JITTER_DEGREES,
        longitude: 13.4,
        recorded_at: now,
        address: '',
      },
    }),
  );
}

function guidOf(kind: number, place: number): string {
  return `0000000${kind}-0000-4000-8000-${String(place).padStart(12, '0')}`;
}

serve(commands);
