import { readSchedule, scheduleSettings, selectActions } from '@waybell/line/line-topology';
import type { InHandLimit } from '@waybell/line/prefetch-budget';
import { readWaiting, waitingSettings, type WaitingLimits } from '@waybell/line/waiting-room/waiting-store';
import { USER_AGENT } from '@waybell/runtime/callback-terms';
import { formatDuration } from '@waybell/runtime/duration';
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
import { endingMs, graceFor } from '@waybell/runtime/grace';
import {
  brokerConfig,
  callbackConfig,
  postgresConfig,
  processConfig,
  redisConfig,
  requestLimits,
} from '@waybell/runtime/process-config';
import { readKeyRing } from '@waybell/runtime/secrets';
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
import type { EndpointsOptions } from './flow/endpoints.ts';
import { readProxy } from './request/proxy-tunnel.ts';

/** Limits of the rows for endpoints; beyond them the oldest deliveries end as `parked_over_limit`. */
const waitingOfAccounts = {
  WAITING_MAX_ROWS: constant(
    count({ per: 'account', default: 1_000_000, desc: 'deliveries of one account that wait, at most' }),
  ),
  WAITING_MAX_BYTES: constant(
    bytes({
      per: 'account',
      default: 0,
      desc: 'total size of the deliveries of one account that wait, at most; 0: a tenth of WAITING_ALL_MAX_BYTES',
    }),
  ),
  ...waitingSettings,
};

/** Limits for endpoints, so that none holds up the others. Reasons: docs/decisions/0004-flow.md. */
export const endpointSettings = {
  DELIVER_WINDOW: count({
    per: 'endpoint',
    default: 64,
    desc: 'requests under way at once to one endpoint; up to twice that while deliveries for it wait in Postgres',
  }),
  DELIVER_UNPROVEN_PERCENT: constant(
    count({
      per: 'process',
      default: 20,
      desc: 'share of the slots, at most, for endpoints that are new or hang; half of it for those that hang',
    }),
  ),
  DELIVER_SLOW: constant(
    duration({
      default: 1_000,
      desc: 'an endpoint that says nothing for longer than this, and than three times as long as usual, is taken to hang',
    }),
  ),
  DELIVER_PATIENCE: constant(
    duration({
      // A little longer than DELIVER_SLOW: a delivery that waits behind a hanging request may be the next probe.
      default: 1_100,
      desc: 'how long a delivery waits in hand for its endpoint before it waits in its room',
    }),
  ),
  DELIVER_ENDPOINTS: constant(
    count({
      per: 'process',
      default: 100_000,
      desc: 'endpoints that are remembered, with how they answer',
    }),
  ),
};

const egressSettings = {
  EGRESS_PROBE_URLS: checked(
    words({
      default: [],
      desc: 'servers on the internet, connected to when receivers fail: if these fail too, it is our network; empty: some receivers',
      example: 'https://a.example.com,https://b.example.net',
    }),
    readProbes,
  ),
};

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

type WaitingSettings = Record<keyof typeof waitingOfAccounts, number>;

/** Share of the limit in hand that deliveries from rooms may have, in addition to those from the queues. */
const FROM_ROOMS_SHARE = 1 / 2;

/** Share of all that may wait, for one account. */
const ACCOUNT_SHARE = 1 / 10;

function readWaitingOfAccounts(
  settings: WaitingSettings,
  { messages, bytes: inHandBytes }: InHandLimit,
): WaitingLimits & ReturnType<typeof readWaiting> & { inHandLimit: InHandLimit } {
  const shareOf = (most: number) => Math.max(1, Math.floor(most * FROM_ROOMS_SHARE));
  return {
    ...readWaiting(settings),
    inHandLimit: { messages: shareOf(messages), bytes: shareOf(inHandBytes) },
    ofAccount: {
      rows: settings.WAITING_MAX_ROWS,
      bytes: settings.WAITING_MAX_BYTES || Math.floor(settings.WAITING_ALL_MAX_BYTES * ACCOUNT_SHARE),
    },
  };
}

type EndpointSettings = { [name in keyof typeof endpointSettings | 'DELIVER_SLOTS']: number };

/** Share of the slots for slow, new and hung endpoints together. The other half is for quick ones. */
const SLOW_SHARE = 0.5;
const FORGET_AFTER_MS = 3_600_000;
/** Share of the deliveries in hand that may be so for one endpoint. */
const IN_HAND_SHARE = 1 / 16;

/** `inHand`: how many deliveries may be in hand at once. */
export function readEndpoints(settings: EndpointSettings, inHand: number): EndpointsOptions {
  const unproven = settings.DELIVER_UNPROVEN_PERCENT / 100;
  const slots = settings.DELIVER_SLOTS;
  return {
    slots,
    shares: { hung: unproven / 2, new: unproven, slow: Math.max(SLOW_SHARE, unproven) },
    maxSize: Math.min(settings.DELIVER_WINDOW, slots),
    slowMs: settings.DELIVER_SLOW,
    maxWaitMs: settings.DELIVER_PATIENCE,
    maxInHandEach: Math.max(1, Math.floor(inHand * IN_HAND_SHARE)),
    maxInHand: 2 * slots,
    maxEndpoints: settings.DELIVER_ENDPOINTS,
    forgetAfterMs: FORGET_AFTER_MS,
  };
}

/** Reads origins from URLs. Throws if one is no http or https address. */
function readProbes(urls: readonly string[]): string[] {
  return urls.map((text) => {
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol))
      throw new Error(`"${text}" is no address to connect to: write it as https://a.example.com`);
    return url.origin;
  });
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
