import { randomUUID } from 'node:crypto';
import { aLocationReport } from './location-report.ts';
import type { Receiver } from './receiver.ts';
import type { TestStack } from './test-stack.ts';
import { until } from '@waybell/runtime/testing/until';

const ACTIONS = {
  on: 'vehicle.gps_activated',
  off: 'vehicle.gps_deactivated',
  moved: 'vehicle.driver_location_updated',
};
type What = keyof typeof ACTIONS;

const SHIPPERS = 3;
const TRUCKS = 10;
/** Twice the distance at which a position is told. */
const LEG_DEGREES = 0.02;

type Truck = { shipper: string; vehicles: string[]; longitude: number };

/** `on <vehicle>`, `moved <vehicle> <leg>` or `off <vehicle>`, and the notification that said so. */
type Heard = { fact: string; webhookId: string };

/**
 * Trucks of a few shippers, two vehicles each, and clients that want to hear everything of them. It knows what is to be
 * heard: each vehicle once that it is on, every leg that it drives, and once that it is off.
 */
export class Fleet {
  readonly #stack: TestStack;
  readonly #receiver: Receiver;
  readonly #path = `/fleet/${randomUUID()}`;
  readonly #trucks: Truck[] = [];
  /** Expected notifications. */
  readonly #due = new Set<string>();
  #leg = 0;
  #isGivenUp = false;
  published = 0;

  private constructor(stack: TestStack, receiver: Receiver) {
    this.#stack = stack;
    this.#receiver = receiver;
  }

  static async assemble({ stack, receiver }: { stack: TestStack; receiver: Receiver }): Promise<Fleet> {
    const fleet = new Fleet(stack, receiver);
    for (let place = 0; place < SHIPPERS; place += 1) {
      const client = await stack.client('shipper');
      for (const action of Object.values(ACTIONS)) await client.subscribe(action, receiver.url(fleet.#path));
      for (let truck = 0; truck < TRUCKS; truck += 1) {
        fleet.#trucks.push({ shipper: client.account, vehicles: [randomUUID(), randomUUID()], longitude: truck });
      }
    }
    return fleet;
  }

  /** Every truck drives a leg and reports it so many times, with clocks that are off by so much each time. */
  async drive(clocksOffMs: readonly number[] = [0]): Promise<void> {
    this.#leg += 1;
    const now = Date.now();
    const reports = this.#trucks.flatMap(({ shipper, vehicles, longitude }) =>
      clocksOffMs.map((offMs) =>
        aLocationReport({
          shipper,
          vehicles: Object.fromEntries(vehicles.map((vehicle) => [vehicle, true])),
          latitude: this.#leg * LEG_DEGREES,
          longitude,
          recordedAt: now + offMs,
        }),
      ),
    );
    for (const vehicle of this.#trucks.flatMap(({ vehicles }) => vehicles)) {
      this.#due.add(`on ${vehicle}`).add(`moved ${vehicle} ${this.#leg}`);
    }
    this.published += reports.length;
    await Promise.all(reports.map((report) => this.#stack.upstream.publishUntilConfirmed(report)));
  }

  /** From now on it reports nothing. */
  park(): void {
    for (const vehicle of this.#trucks.flatMap(({ vehicles }) => vehicles)) this.#due.add(`off ${vehicle}`);
  }

  /** Waits for all that was to be told; what does not come in that time, `missing` has to say. */
  async untilTold(): Promise<void> {
    if (this.#isGivenUp) return;
    const told = until('everything is told that was to be told', () => this.missing().length === 0);
    await told.catch(() => (this.#isGivenUp = true));
  }

  /** Returns expected notifications that have not come. */
  missing(): string[] {
    const heard = new Set(this.#heard().map(({ fact }) => fact));
    return [...this.#due].filter((each) => !heard.has(each));
  }

  get told(): number {
    return new Set(this.#heard().map(({ fact }) => fact)).size;
  }

  /** Returns notifications that came twice, or were not expected. */
  toldTooOften(): string[] {
    const byFact = Map.groupBy(this.#heard(), ({ fact }) => fact);
    return [...byFact]
      .filter(([fact, heard]) => !this.#due.has(fact) || new Set(heard.map(({ webhookId }) => webhookId)).size > 1)
      .map(([fact]) => fact);
  }

  /** Requests beyond the first of the same notification. */
  get duplicates(): number {
    const requests = this.#receiver.at(this.#path);
    return requests.length - new Set(requests.map(({ headers }) => headers['webhook-id'])).size;
  }

  #heard(): Heard[] {
    return this.#receiver.at(this.#path).flatMap(({ headers, body }) => {
      // The product's own words; what is missing in them is missing in the ledger.
      const { action, vehicle_guids: vehicles, latitude } = JSON.parse(body) as Notified;
      const what = whatIs(action);
      const leg = latitude === undefined ? '' : ` ${Math.round(latitude / LEG_DEGREES)}`;
      return vehicles.map((vehicle) => ({
        fact: `${what} ${vehicle}${leg}`,
        webhookId: String(headers['webhook-id']),
      }));
    });
  }
}

type Notified = { action: string; vehicle_guids: string[]; latitude?: number };

function whatIs(action: string): What {
  for (const what of ['on', 'off', 'moved'] as const) if (ACTIONS[what] === action) return what;
  throw new Error(`a fleet hears nothing of ${action}`);
}
