import type { BrokerState } from '@waybell/line/broker-state';
import type { ParkedRow, Source } from '@waybell/line/messages';
import { createLog } from '@waybell/runtime/log';
import type { TurnedClock } from '@waybell/runtime/turned-clock';
import { endpointKey } from '../endpoints/endpoint.ts';
import type { DeliveryTarget, KnownTarget } from '../find-target.ts';
import { ParkingOwner } from '../parking/owner.ts';
import { MemoryParking } from '../parking/testing/memory-parking.ts';
import { SumChanges } from '../parking/sum-changes.ts';
import { SomeEndpoints } from './endpoints.ts';

export const SUBSCRIPTION = '0b9c2f6e-7d1f-4e57-8f5e-000000000001';
const ACCOUNT = '0b9c2f6e-7d1f-4e57-8f5e-000000000002';
const MAX_AGE_MS = 3_600_000;

export const TARGET: DeliveryTarget = {
  state: 'active',
  isFeatureOn: true,
  isHung: false,
  reportsSuccess: false,
  account: ACCOUNT,
  callbackUrl: 'https://example.com',
  verificationToken: 'token',
  signingSecrets: [],
};

export const ENDPOINT = endpointKey(TARGET);

/** A row of that name, the older the smaller `createdAt`. */
export function aRow(delivery: string, what: Partial<ParkedRow> = {}): ParkedRow {
  const place = { subscription: SUBSCRIPTION, createdAt: 1, delivery, attempt: 1, hop: 1 };
  return { ...place, why: 'full', action: 'carrier.order.created', note: '', body: Buffer.from('{}'), ...what };
}

/** A parking owner with a store in memory and a turned clock; rows that it takes stay in hand until a test settles them. */
export class AnOwner implements AsyncDisposable {
  readonly clock: TurnedClock;
  readonly store: MemoryParking;
  readonly endpoints: SomeEndpoints;
  readonly owner: ParkingOwner;
  /** All rows ever taken, by name. */
  readonly taken = new Map<string, Source>();
  readonly cut: string[] = [];
  target: DeliveryTarget = TARGET;
  findTarget = (): KnownTarget => this.target;
  state: BrokerState = 'writable';

  constructor({ most = 1_000 }: { most?: number } = {}) {
    this.endpoints = new SomeEndpoints();
    this.clock = this.endpoints.clock;
    this.store = new MemoryParking({ now: this.clock.now, whose: () => ({ ...ENDPOINT }) });
    const limit = { rows: 1_000, bytes: 2 ** 30 };
    const options = {
      store: this.store,
      endpoints: this.endpoints.endpoints,
      sums: new SumChanges(),
      broker: { state: () => this.state, onState: () => undefined },
      findTargets: async (guids: readonly string[]) => guids.map(() => this.findTarget()),
      parked: { held: limit, ofAccount: { ...limit, rows: most }, ofAll: limit },
      maxAgeMs: MAX_AGE_MS,
      clock: this.clock,
      now: this.clock.now,
      log: createLog({ service: 'test', level: 'silent' }),
    };
    this.owner = new ParkingOwner(options, {
      onTaken: (source) => void this.taken.set(nameOf(source), source),
      onCut: (source) => void this.cut.push(nameOf(source)),
    });
  }

  get names(): string[] {
    return [...this.taken.keys()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.owner[Symbol.asyncDispose]();
    await this.clock.runFor(3_000);
    await closed;
  }
}

function nameOf({ messages }: Source): string {
  return messages[0]?.messageId ?? '';
}
