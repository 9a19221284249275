import type { Interface } from '@waybell/catalog/action';
import { InvalidEnvironment, words } from '@waybell/runtime/environment';
import { requestLimits } from '@waybell/runtime/process-config';
import { requestLimitSettings } from '@waybell/runtime/settings';
import { readSourceNetworks } from '@waybell/runtime/networks';

export const sourceNetworkSettings = {
  CALLBACK_SOURCE_NETWORKS: words({
    default: [],
    desc: 'networks that callbacks come from, as receivers see them; told at /v1/source-networks',
    example: '203.0.113.0/28,2001:db8:9::/48',
  }),
  ...requestLimitSettings,
};

type Settings = Parameters<typeof requestLimits>[0] & {
  CALLBACK_SOURCE_NETWORKS: string[];
  CALLBACK_ALLOW_NETWORKS: string[];
  CALLBACK_ALLOW_HTTP: boolean;
  CALLBACK_DENY_PORTS: string[];
  EVENT_MAX_SIZE: number;
};

/** An installation's settings of callbacks, for administrators of firewalls. `limits`: by interface, in milliseconds. */
export type CallbackTerms = {
  networks: readonly string[];
  isHttpAllowed: boolean;
  deniedPorts: readonly string[];
  /** The largest event. */
  eventBytes: number;
  limits: Record<Interface, { handoverMs?: number; responseMs: number }>;
};

/** Throws InvalidEnvironment if a network is invalid, or cannot be where callbacks come from. */
export function readCallbackTerms(settings: Settings): CallbackTerms {
  return {
    networks: sourceNetworks(settings),
    isHttpAllowed: settings.CALLBACK_ALLOW_HTTP,
    deniedPorts: settings.CALLBACK_DENY_PORTS,
    eventBytes: settings.EVENT_MAX_SIZE,
    limits: requestLimits(settings),
  };
}

function sourceNetworks({ CALLBACK_SOURCE_NETWORKS: entries, CALLBACK_ALLOW_NETWORKS: inside }: Settings): string[] {
  try {
    return readSourceNetworks(entries, { areInside: inside.length > 0 });
  } catch (error) {
    throw new InvalidEnvironment([`CALLBACK_SOURCE_NETWORKS: ${error instanceof Error ? error.message : 'not valid'}`]);
  }
}
