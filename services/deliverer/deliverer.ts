import { randomUUID } from 'node:crypto';
import type { Delivery } from '@waybell/line/delivery';
import type { Step, StepTools } from '@waybell/line/run-step';
import type { Service } from '@waybell/line/service';
import { WAITING_MS } from '@waybell/line/topology';
import { waitingIn } from '@waybell/line/waiting-room/postgres-waiting-store';
import { systemClock, type Clock } from '@waybell/runtime/clock';
import { withLastKnown, lastKnownTarget, findTargetsIn, isSameTarget, recentlyWellIn } from './find-target.ts';
import type { Log } from '@waybell/runtime/log';
import { systemNames } from '@waybell/runtime/names/resolve-host';
import { allowsAny } from '@waybell/runtime/networks';
import { keyOf } from '@waybell/runtime/secrets';
import type { Config } from './config.ts';
import { AccessTokens, watchFetches, renewingRefused, fetchingTokens } from './credentials/access-tokens.ts';
import { answerTokenChecks } from './credentials/answer-token-checks.ts';
import { sharedTokensIn } from './credentials/shared-tokens.ts';
import { deliverStep, type DeliverStepOptions } from './deliver-step.ts';
import type { DeliverOptions } from './deliver.ts';
import { DeliveryMetrics, countCallbacks } from './delivery-metrics.ts';
import { Egress, watchEgress } from './egress/egress.ts';
import { watchEndpoints } from './flow/endpoints.ts';
import { openEndpoints, type CallTokenUrl, judgeOwnFault, judgeTokenUrl } from './request/call-endpoint.ts';
import { deliverersIn, watchDeliverers, Flow, type FlowOptions } from './flow/flow.ts';
import { OpenRequests } from './flow/open-requests.ts';

/** Dispose of it after its step has ended. */
type Deliverer = AsyncDisposable & {
  step: Step<Delivery>;
  tools: Partial<StepTools<Delivery>>;
  /** Dispose of it before the step: deliveries that wait in hand for their endpoint, or a token, then wait no more. */
  waits: Disposable;
};

export function openDeliverer(service: Service<Config>): Deliverer {
  const { config, postgres, broker, waiting, clocks, log, metrics, readiness, tracer } = service;
  const [clock, now] = [systemClock, Date.now];
  const closing = new AsyncDisposableStack();
  const searches = allowsAny(config.endpoints.networks);
  const { resolveHost, resolveAfresh, waitingFor } = systemNames({ clock, log, searches });
  readiness.watch(waitingFor);
  const watched = { observe: countCallbacks(metrics), ...(tracer && { tracer }) };
  const requests = closing.use(openEndpoints({ ...config.endpoints, resolveHost, resolveAfresh, ...watched }));
  const asking = { reach: requests.reach, probes: config.probes, recentlyWell: recentlyWellIn(postgres) };
  const egress = closing.use(new Egress({ ...asking, clock, log }));
  watchEgress(egress, metrics);
  const tokens = openTokens(service, judgeTokenUrl({ ...requests, egress, clock }));
  closing.use(answerTokenChecks({ ...service, keyRing: config.keyRing, tokens }));
  const missingKeys = new MissingKeys({ log, clock });
  readiness.watch(() => missingKeys.waitingFor());

  const lastKnown = { ...config.lastKnown, clock, asLastKnown: lastKnownTarget, isSame: isSameTarget };
  const store = waitingIn(waiting.postgres, { process: randomUUID() });
  const { flow, step } = makeDeliverer({
    config,
    store,
    deliverers: deliverersIn(postgres, { id: randomUUID(), actions: config.actionKeys }),
    onPut: (why) => waiting.metrics.countPut(why),
    onTaken: (rows) => waiting.metrics.countTaken('endpoints', rows),
    onCounted: (figures) => (waiting.metrics.figures.endpoints = figures),
    // With a wrong clock, deliveries would be too old, and receivers would refuse the signatures.
    findTargets: clocks.guard(withLastKnown(findTargetsIn(postgres, config.keyRing), lastKnown)),
    callEndpoint: renewingRefused(clocks.guard(judgeOwnFault({ ...requests, egress, clock })), tokens),
    tokens,
    onKeyMissing: missingKeys.note,
    broker,
    log,
    clock,
    now,
  });
  const waits = new DisposableStack();
  waits.use(tokens);
  waits.use(flow);
  watchEndpoints(flow.endpoints, metrics);
  waiting.metrics.show(() => flow.figures());
  watchDeliverers(flow, metrics);
  closing.use(flow.released);
  const { limits } = config.endpoints;
  const openRequests = closing.use(new OpenRequests({ store, putRow: flow.putRow, limits, log, clock }));
  const deliveryMetrics = new DeliveryMetrics(metrics, { now, hasTraces: tracer !== undefined });
  return {
    step: deliveryMetrics.watch(step),
    tools: { ...flow.tools, storeRunning: openRequests.storeRunning, cut: () => requests[Symbol.asyncDispose]() },
    waits,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

function openTokens({ config, redis, metrics, log }: Service<Config>, callTokenUrl: CallTokenUrl): AccessTokens {
  const clock = systemClock;
  const fetch = watchFetches(fetchingTokens(callTokenUrl), { metrics, log, clock });
  return new AccessTokens({ fetch, shared: sharedTokensIn({ redis, keyRing: config.keyRing, log, clock }), clock });
}

type FlowPorts = Omit<FlowOptions, 'endpoints' | 'inHandLimit' | 'limits' | 'maxAgeMs'>;

type DelivererPorts = FlowPorts &
  Pick<DeliverOptions, 'callEndpoint' | 'tokens'> & {
    /** Defaults to doing nothing. */
    onKeyMissing?: DeliverOptions['onKeyMissing'];
    config: DeliverStepOptions['config'] & Pick<Config, 'waiting'>;
  };

/** Makes a deliverer from its ports: its step, to be run with `flow.tools`. */
export function makeDeliverer({
  config,
  callEndpoint,
  tokens,
  onKeyMissing = () => undefined,
  ...ports
}: DelivererPorts) {
  const { waiting, maxAgeMs } = config;
  const flow = new Flow({
    ...ports,
    endpoints: config.flow,
    inHandLimit: waiting.inHandLimit,
    limits: waiting,
    maxAgeMs,
  });
  const { findTargets, clock, now } = ports;
  const step = deliverStep({ ...flow.rules, findTargets, callEndpoint, tokens, onKeyMissing, config, clock, now });
  return { flow, step };
}

/** A delivery that waits for a key needs it again within this time. */
const NEEDED_WITHIN_MS = 2 * WAITING_MS;

/** Keys that SECRET_KEYS of this process lacks and deliveries wait for. */
export class MissingKeys {
  readonly #neededAt = new Map<string, number>();
  readonly #log: Pick<Log, 'error'>;
  readonly #clock: Pick<Clock, 'now'>;

  constructor({ log, clock }: { log: Pick<Log, 'error'>; clock: Pick<Clock, 'now'> }) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Notes that a delivery needs the key. */
  readonly note = (keyId: string): void => {
    if (!this.#isWaitedFor(keyId)) this.#log.error({ key: keyId }, 'key.missing');
    this.#neededAt.set(keyId, this.#clock.now());
  };

  waitingFor(): string[] {
    return [...this.#neededAt.keys()].filter((keyId) => this.#isWaitedFor(keyId)).map(keyOf);
  }

  #isWaitedFor(keyId: string): boolean {
    return this.#clock.now() - (this.#neededAt.get(keyId) ?? -Infinity) < NEEDED_WITHIN_MS;
  }
}
