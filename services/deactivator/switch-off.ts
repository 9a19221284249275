import { Gauge } from 'prom-client';
import type { InterfaceName } from '@waybell/line/outcomes';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import { runEvery } from '@waybell/runtime/run-every';

/** The interfaces of each rule (carrier-webhooks, States and transitions), and how many subscriptions may go off at once. */
export type SwitchOffRules = {
  offOnExhausted: InterfaceName[];
  offOnWindow: InterfaceName[];
  windowMs: number;
  surge: { many: number; few: number };
};

/** Number of subscriptions that this call switched off, and of those whose deactivation is held back. */
type SwitchOffCounts = { off: number; held: number };

/** Applies the rules to every subscription: see `switch-off.sql`. */
type SwitchOff = () => Promise<SwitchOffCounts>;

const SWITCH_OFF = {
  name: 'switch-off',
  text: `select "off", held from waybell.switch_off($1::text[], $2::text[], make_interval(secs => $3::float8 / 1000),
           make_interval(secs => $4::float8 / 1000), $5, $6)`,
};

/** Subscriptions that become due within this time are judged together. */
const GATHER_MS = 500;

export function switchOffIn(
  postgres: Postgres,
  { offOnExhausted, offOnWindow, windowMs, surge }: SwitchOffRules,
): SwitchOff {
  const gatherMs = surge.many > 0 || surge.few > 0 ? GATHER_MS : 0;
  const values = [offOnExhausted, offOnWindow, windowMs, gatherMs, surge.many, surge.few];
  return async () => {
    const asked = () => postgres.query<SwitchOffCounts>({ ...SWITCH_OFF, values });
    const { rows } = await whenAvailable(postgres, asked);
    return rows[0] ?? { off: 0, held: 0 };
  };
}

type SweepOptions = { switchOff: SwitchOff; intervalMs: number; log: Log; metrics: Metrics };

/** Applies the rules at each interval, and logs when more subscriptions are held back than before. */
export function startSweep({ switchOff, intervalMs, log, metrics }: SweepOptions): AsyncDisposable {
  const gauge = gaugeHeld(metrics);
  let held = 0;
  async function sweep(): Promise<void> {
    const before = held;
    ({ held } = await switchOff());
    gauge.set(held);
    if (held > before) log.warn({ held }, 'deactivations.held');
  }
  return runEvery(sweep, { intervalMs, warning: 'sweep.failed', log });
}

export function gaugeHeld(metrics: Metrics): Gauge {
  return new Gauge({
    name: 'waybell_deactivations_held',
    help: 'Subscriptions kept on, as so many would go off',
    registers: [metrics],
  });
}
