import type { InterfaceName } from '@waybell/line/outcomes';
import {
  bytes,
  constant,
  count,
  countOrNone,
  duration,
  readEnvironment,
  wait,
  words,
} from '@waybell/runtime/environment';
import { brokerConfig, postgresConfig, processConfig } from '@waybell/runtime/process-config';
import { brokerSettings, postgresSettings, processSettings } from '@waybell/runtime/settings';

export const deactivatorSettings = {
  ...processSettings,
  ...brokerSettings,
  ...postgresSettings,
  DEACTIVATE_HELD: constant(count({ per: 'process', default: 20, desc: 'batches of ends held and handled at once' })),
  DEACTIVATE_HELD_BYTES: constant(
    bytes({ per: 'process', default: 4 * 2 ** 20, desc: 'what they may weigh together' }),
  ),
  DEACTIVATE_ON_EXHAUSTED: words({
    default: ['carrier'],
    desc: 'interfaces whose subscriptions go off when a delivery exhausts its attempts',
  }),
  DEACTIVATE_ON_WINDOW: words({
    default: ['carrier'],
    desc: 'interfaces whose subscriptions go off when every message of a day failed',
  }),
  END_ON_GONE: words({
    default: ['none'],
    desc: 'interfaces whose subscriptions end when their receiver answers 410 (Gone)',
  }),
  DEACTIVATION_WINDOW: constant(duration({ default: 86_400_000, desc: 'the window of DEACTIVATE_ON_WINDOW' })),
  DEACTIVATION_SURGE_FEW: constant(
    countOrNone({
      per: 'line',
      default: 4,
      desc: 'where within a minute more than half of all subscriptions that had deliveries would go off, at so many hosts at least, all are held; 0: never',
    }),
  ),
  DEACTIVATION_SURGE_MANY: constant(
    countOrNone({
      per: 'line',
      default: 20,
      desc: 'where more than a tenth would, so many at least, at a quarter as many hosts, they are held; 0: never',
    }),
  ),
  DEACTIVATION_SWEEP_INTERVAL: constant(
    wait({ default: 500, desc: 'how often the rules are applied to all subscriptions' }),
  ),
  DEACTIVATION_CLAIM: constant(
    duration({
      default: 30_000,
      desc: 'after this long without a confirm, another replica tells the delivery log what was switched off',
    }),
  ),
};

export type Config = ReturnType<typeof readConfig>;

export function readConfig(env: NodeJS.ProcessEnv) {
  const settings = readEnvironment(deactivatorSettings, env);
  return {
    ...processConfig(settings),
    ...brokerConfig(settings),
    ...postgresConfig(settings),
    inHandLimit: { messages: settings.DEACTIVATE_HELD, bytes: settings.DEACTIVATE_HELD_BYTES },
    claimMs: settings.DEACTIVATION_CLAIM,
    sweepIntervalMs: settings.DEACTIVATION_SWEEP_INTERVAL,
    endOnGone: readInterfaces('END_ON_GONE', settings.END_ON_GONE),
    rules: {
      offOnExhausted: readInterfaces('DEACTIVATE_ON_EXHAUSTED', settings.DEACTIVATE_ON_EXHAUSTED),
      offOnWindow: readInterfaces('DEACTIVATE_ON_WINDOW', settings.DEACTIVATE_ON_WINDOW),
      windowMs: settings.DEACTIVATION_WINDOW,
      surge: { many: settings.DEACTIVATION_SURGE_MANY, few: settings.DEACTIVATION_SURGE_FEW },
    },
  };
}

function readInterfaces(setting: string, names: string[]): InterfaceName[] {
  return names
    .filter((name) => name !== 'none')
    .map((name) => {
      if (name === 'shipper' || name === 'carrier') return name;
      throw new Error(`${setting}: "${name}" is not an interface: write shipper, carrier, both with a comma, or none`);
    });
}
