import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { openLine } from '../open-line.ts';
import { subscribe, type DemoClient } from './demo-client.ts';
import { writeEvent } from './demo-events.ts';
import { publishEvent } from './publish-event.ts';
import { until } from './until.ts';

export type TruckOptions = {
  client: DemoClient;
  callbackUrl: string;
  /** The environment of the running stack: AMQP_URL. */
  env: NodeJS.ProcessEnv;
  print: (line: string) => void;
  signal: AbortSignal;
};

const ACTIONS = ['vehicle.gps_activated', 'vehicle.driver_location_updated', 'vehicle.gps_deactivated'];
const REPORTS = 40;
const REPORT_EVERY_MS = 100;
/** About 100 m to the east at this latitude. */
const STEP_DEGREES = 0.0015;
const START = { latitude: 52.52, longitude: 13.405 };

/** Collects the callbacks about the truck, one line each. */
export class HeardOfTruck {
  readonly actions: string[] = [];
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  hear(body: string): void {
    // The demo's own subscriptions: the notification has the form of the specification.
    const { action, latitude, longitude } = JSON.parse(body) as { action: string; latitude: number; longitude: number };
    this.actions.push(action);
    const what = action === 'vehicle.driver_location_updated' ? `at ${latitude}, ${longitude}` : '';
    this.#print(`${new Date().toISOString().slice(11, 23)}  ${action.padEnd(32)}  ${what}`.trimEnd());
  }
}

/**
 * A truck reports its position again and again, of which its client is notified rarely; then it falls silent, and the client is
 * notified once more.
 */
export async function showTruck(heard: HeardOfTruck, options: TruckOptions): Promise<void> {
  const { client, callbackUrl, print, signal } = options;
  for (const action of ACTIONS) await subscribe(client, { interface: 'shipper', action, callbackUrl });
  print(
    `\nA truck of the shipper's drives four kilometres and reports its position ${REPORTS} times. The client hears:`,
  );
  await drive(options);
  await until(() => heard.actions.length > 1, signal);
  print('It has arrived, and reports nothing any more.');
  await until(() => heard.actions.includes('vehicle.gps_deactivated'), signal);
}

async function drive({ client, env, signal }: TruckOptions): Promise<void> {
  const vehicles = [{ guid: randomUUID(), picked_up: true }];
  await using line = await openLine(env);
  for (let place = 0; place < REPORTS; place += 1) {
    const payload = () => ({
      vehicles,
      latitude: START.latitude,
      longitude: Number((START.longitude + place * STEP_DEGREES).toFixed(4)),
      recorded_at: new Date().toISOString(),
    });
    const report = { interface: 'shipper', action: 'vehicle.location_reported', payload } as const;
    await publishEvent(line, writeEvent(report, client.account));
    await pause(REPORT_EVERY_MS, undefined, { signal });
  }
}
