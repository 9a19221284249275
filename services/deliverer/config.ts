import {
  bool,
  bytes,
  checked,
  constant,
  count,
  duration,
  InvalidEnvironment,
  readEnvironment,
  str,
  wait,
  words,
} from '@waybell/runtime/environment';
import { USER_AGENT } from '@waybell/runtime/callback-terms';
import { formatDuration } from '@waybell/runtime/duration';
import { readKeyRing } from '@waybell/runtime/secrets';
import { endingMs, graceFor } from '@waybell/runtime/grace';
import {
  brokerSettings,
  callbackSettings,
  lastKnownSettings,
  patienceSettings,
  postgresSettings,
  processSettings,
  redisSettings,
  requestLimitSettings,
  secretSettings,
} from '@waybell/runtime/settings';
import {
  brokerConfig,
  callbackConfig,
  postgresConfig,
  processConfig,
  redisConfig,
  requestLimits,
} from '@waybell/runtime/process-config';
import { readSchedule, scheduleSettings } from '@waybell/line/line-topology';
import { selectActions } from '@waybell/line/line-topology';
import { readProxy } from './request/proxy-tunnel.ts';
import { egressSettings, readProbes } from './egress/egress-settings.ts';
import { endpointSettings, readEndpoints } from './endpoints/endpoint-settings.ts';
import { readWaitingOfAccounts, waitingOfAccounts } from './waiting/account-limits.ts';

export const delivererSettings = {
  ...processSettings,
  ...brokerSettings,
  ...postgresSettings,
  ...lastKnownSettings,
  ...redisSettings,
  ...secretSettings,
  ...scheduleSettings,
  DELIVER_SLOTS: count({
    per: 'process',
    default: 1_024,
    desc: 'requests to receivers under way at once; as many deliveries are in memory, 1,024 at least',
  }),
  ...endpointSettings,
  DELIVER_HELD: constant(
    count({
      per: 'process',
      default: 0,
      desc: 'deliveries held at once, over all actions; beside them half as many that waited in Postgres; 0: DELIVER_SLOTS, LEAST_HELD at least',
    }),
  ),
  DELIVER_HELD_BYTES: constant(
    bytes({
      per: 'process',
      default: 16 * 2 ** 20,
      desc: 'their total size, at most; those that waited in Postgres may take half as much beside it',
    }),
  ),
  DELIVER_ACTIONS: checked(
    words({
      default: ['*'],
      desc: 'actions whose queues this process takes from: *, shipper.*, carrier.order.created',
    }),
    selectActions,
  ),
  ...waitingOfAccounts,
  ...patienceSettings,
  ...requestLimitSettings,
  SHUTDOWN_ALLOW_SHORT: constant(
    bool({
      default: false,
      desc: 'whether SHUTDOWN_GRACE may leave requests less than the longest of these limits; those that are cut are made again',
    }),
  ),
  CONNECT_LIMIT: constant(
    wait({ default: 10_000, desc: 'limit for looking up a host, connecting to it and agreeing on TLS' }),
  ),
  ...egressSettings,
  KEEP_ALIVE: constant(
    wait({
      default: 4_000,
      desc: 'idle connections to receivers are closed after this long: before servers close theirs, mostly after 5 s',
    }),
  ),
  ...callbackSettings,
  PASS_TRACEPARENT: bool({
    default: false,
    desc: "send receivers a traceparent header: the event's, or with traces on that of the request",
  }),
  CALLBACK_PROXY: checked(
    str({
      default: '',
      desc: 'HTTP proxy through which callbacks leave, by CONNECT; empty: none',
      example: 'http://user:password@proxy:3128',
    }),
    readProxy,
  ),
  REMEMBER_ATTEMPTS: constant(
    duration({ default: 3_600_000, desc: 'how long an attempt is recognised that was made before' }),
  ),
};

/** With fewer, a batch of deliveries could need all of them, and wait for a request that hangs. */
const LEAST_HELD = 1_024;

export type Config = ReturnType<typeof readConfig>;

export function readConfig(env: NodeJS.ProcessEnv) {
  const settings = readEnvironment(delivererSettings, env);
  checkGrace(settings);
  const held = settings.DELIVER_HELD || Math.max(LEAST_HELD, settings.DELIVER_SLOTS);
  const inHandLimit = { messages: held, bytes: settings.DELIVER_HELD_BYTES };
  return {
    ...processConfig(settings),
    ...brokerConfig(settings),
    ...postgresConfig(settings),
    ...redisConfig(settings),
    actionKeys: selectActions(settings.DELIVER_ACTIONS),
    flow: readEndpoints(settings, held),
    waiting: readWaitingOfAccounts(settings, inHandLimit),
    inHandLimit,
    maxAgeMs: settings.DELIVERY_MAX_AGE,
    rememberMs: settings.REMEMBER_ATTEMPTS,
    lastKnown: { maxAgeMs: settings.LAST_KNOWN_MAX_AGE, maxEntries: settings.LAST_KNOWN_ENTRIES },
    schedule: readSchedule(settings),
    keyRing: readKeyRing(settings.SECRET_KEYS),
    probes: readProbes(settings.EGRESS_PROBE_URLS),
    endpoints: {
      ...callbackConfig(settings),
      proxy: readProxy(settings.CALLBACK_PROXY),
      connectTimeoutMs: settings.CONNECT_LIMIT,
      keepAliveMs: settings.KEEP_ALIVE,
      passesTraceparent: settings.PASS_TRACEPARENT,
      userAgent: USER_AGENT,
      limits: requestLimits(settings),
    },
  };
}

const REQUEST_LIMITS = ['SHIPPER_HANDOVER_LIMIT', 'SHIPPER_RESPONSE_LIMIT', 'CARRIER_RESPONSE_LIMIT'] as const;

type GraceSettings = Record<(typeof REQUEST_LIMITS)[number] | 'SHUTDOWN_GRACE', number> & {
  SHUTDOWN_ALLOW_SHORT: boolean;
};

/** Throws InvalidEnvironment if a shutdown could cut a request. */
function checkGrace(settings: GraceSettings): void {
  const longest = REQUEST_LIMITS.reduce((one, other) => (settings[other] > settings[one] ? other : one));
  const leftMs = endingMs(settings.SHUTDOWN_GRACE);
  if (settings.SHUTDOWN_ALLOW_SHORT || leftMs > settings[longest]) return;
  const [left, limit, least] = [leftMs, settings[longest], graceFor(settings[longest])].map(formatDuration);
  throw new InvalidEnvironment([
    `SHUTDOWN_GRACE: leaves requests ${left}, not longer than ${longest}, ${limit}: one under way at a restart could be cut ` +
      `and made twice. Set more than ${least}`,
  ]);
}
