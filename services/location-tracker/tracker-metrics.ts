import { Counter, Histogram } from 'prom-client';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import { ADDRESS_RESULTS, type AddressResult } from './find-address.ts';
import type { Changes } from './see-together.ts';
import type { Deactivation, SweepResult } from './sweep.ts';

export class TrackerMetrics {
  readonly #vehicles: Counter<'change'>;
  readonly #addresses: Counter<'result'>;
  readonly #sweeps: Histogram<'result'>;

  constructor(metrics: Metrics) {
    const registers = [metrics];
    this.#vehicles = new Counter({
      name: 'waybell_gps_vehicles_total',
      help: 'Vehicles told of: activated, deactivated, moved',
      labelNames: ['change'],
      registers,
    });
    this.#addresses = new Counter({
      name: 'waybell_gps_addresses_total',
      help: `Addresses of positions: ${ADDRESS_RESULTS.join(', ')}`,
      labelNames: ['result'],
      registers,
    });
    this.#sweeps = new Histogram({
      name: 'waybell_gps_sweep_duration_seconds',
      help: 'Looks for silent vehicles: done, behind (reports wait), unconfirmed (by the broker), failed',
      labelNames: ['result'],
      buckets: [0.01, 0.1, 0.5, 1, 5, 10, 30, 60],
      registers,
    });
    // Alerts look for increases: Prometheus misses the first one of a series that did not exist before.
    this.#sweeps.zero({ result: 'done' });
    for (const result of ADDRESS_RESULTS) this.#addresses.inc({ result }, 0);
  }

  readonly countChanges = ({ activated, moved }: Changes): void => {
    this.#vehicles.inc({ change: 'activated' }, activated.length);
    this.#vehicles.inc({ change: 'moved' }, moved.length);
  };

  readonly countAddress = (result: AddressResult): void => this.#addresses.inc({ result });

  readonly timeSweep = (result: SweepResult | 'failed', durationMs: number): void =>
    this.#sweeps.observe({ result }, durationMs / 1_000);

  /** Logs the deactivation, as no message causes it and no other log line would mention it. */
  readonly countDeactivation = (log: Log) => {
    return ({ guid, shipper, vehicles }: Deactivation): void => {
      this.#vehicles.inc({ change: 'deactivated' }, vehicles.length);
      log.info({ deactivation: guid, shipper, vehicles: vehicles.length }, 'vehicles.silent');
    };
  };
}
