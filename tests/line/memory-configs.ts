import { withConstants } from '@waybell/runtime/gone-settings';
import { readConfig as readDeactivatorConfig } from '@waybell/deactivator/config';
import { readConfig as readDelivererConfig } from '@waybell/deliverer/config';
import { readConfig as readRouterConfig } from '@waybell/event-router/config';
import { lineTopology } from '@waybell/line/line-topology';

const ENVIRONMENT = {
  DELIVER_ENDPOINTS: '100',
  AMQP_URL: 'amqp://unused',
  DATABASE_URL: 'postgres://unused',
  REDIS_URL: 'redis://unused',
  SECRET_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};

export type Configs = ReturnType<typeof readConfigs>;
const known = new Map<string, Configs>();

/** Read once: a thousand lines have the same settings. */
export function configsOf(settings: Record<string, string> = {}): Configs {
  const key = JSON.stringify(settings);
  const configs = known.get(key) ?? readConfigs(withConstants({ ...ENVIRONMENT, ...settings }));
  known.set(key, configs);
  return configs;
}

function readConfigs(env: NodeJS.ProcessEnv) {
  const deliverer = readDelivererConfig(env);
  const topology = lineTopology({ schedule: deliverer.schedule, eventsLimitBytes: 2 ** 20, quorumSize: 1 });
  return { router: readRouterConfig(env), deliverer, deactivator: readDeactivatorConfig(env), topology };
}
