import { randomUUID } from 'node:crypto';
import type { Delivery } from '@waybell/line/delivery';
import type { Step, StepTools } from '@waybell/line/run-step';
import type { Service } from '@waybell/line/service';
import { systemClock } from '@waybell/runtime/clock';
import { allowsAny } from '@waybell/runtime/networks';
import { withLastKnown } from '@waybell/runtime/last-known';
import { systemNames } from '@waybell/runtime/names/resolve-host';
import type { Config } from './config.ts';
import { AccessTokens } from './credentials/access-tokens.ts';
import { answerTokenChecks } from './credentials/answer-token-checks.ts';
import { fetchingTokens } from './credentials/fetch-token.ts';
import { renewingRefused } from './credentials/renew-refused.ts';
import { sharedTokensIn } from './credentials/shared-tokens.ts';
import { watchFetches } from './credentials/watch-fetches.ts';
import type { DeliverOptions } from './deliver.ts';
import { deliverStep, type DeliverStepOptions } from './deliver-step.ts';
import { DeliveryMetrics } from './delivery-metrics.ts';
import { Egress } from './egress/egress.ts';
import { watchEgress } from './egress/egress-metrics.ts';
import { watchEndpoints } from './endpoints/endpoint-metrics.ts';
import { asLastKnown, findTargetsIn, isSameTarget, recentlyWellIn } from './find-target.ts';
import { MissingKeys } from './missing-keys.ts';
import { countCallbacks } from './request/callback-metrics.ts';
import { openEndpoints } from './request/call-endpoint.ts';
import type { CallTokenUrl } from './request/call-token-url.ts';
import { judgeOwnFault, judgeTokenUrl } from './request/judge-own-fault.ts';
import { deliverersIn, watchDeliverers } from './waiting/deliverers.ts';
import { Flow, type FlowOptions } from './waiting/flow.ts';
import { OpenRequests } from './waiting/open-requests.ts';

type FlowPorts = Omit<FlowOptions, 'endpoints' | 'held' | 'limits' | 'maxAgeMs'>;

export type DelivererPorts = FlowPorts &
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
  const flow = new Flow({ ...ports, endpoints: config.flow, held: waiting.held, limits: waiting, maxAgeMs });
  const { findTargets, clock, now } = ports;
  const step = deliverStep({ ...flow.rules, findTargets, callEndpoint, tokens, onKeyMissing, config, clock, now });
  return { flow, step };
}

/** Dispose of it after its step has ended. */
export type Deliverer = AsyncDisposable & {
  step: Step<Delivery>;
  tools: Partial<StepTools<Delivery>>;
  /** Dispose of it before the step: deliveries that wait in hand for their endpoint, or a token, then wait no more. */
  turns: Disposable;
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

  const lastKnown = { ...config.lastKnown, clock, asLastKnown, isSame: isSameTarget };
  const { flow, step } = makeDeliverer({
    config,
    store: waiting.store,
    deliverers: deliverersIn(postgres, { id: randomUUID(), actions: config.actionKeys }),
    onPut: (why) => waiting.metrics.countPut(why),
    onTaken: (rows) => waiting.metrics.countTaken('endpoints', rows),
    // With a wrong clock, deliveries would be too old, and receivers would refuse the signatures.
    findTargets: clocks.guard(withLastKnown(findTargetsIn(postgres, config.keyRing), lastKnown)),
    callEndpoint: renewingRefused(clocks.guard(judgeOwnFault({ ...requests, egress, clock })), tokens),
    tokens,
    onKeyMissing: missingKeys.asked,
    broker,
    log,
    clock,
    now,
  });
  const turns = new DisposableStack();
  turns.use(tokens);
  turns.use(flow);
  watchEndpoints(flow.endpoints, metrics);
  waiting.metrics.show(() => flow.figures());
  watchDeliverers(flow, metrics);
  closing.use(flow.released);
  const { store } = waiting;
  const { limits } = config.endpoints;
  const openRequests = closing.use(new OpenRequests({ store, putRow: flow.putRow, limits, log, clock }));
  const deliveryMetrics = new DeliveryMetrics(metrics, { now, hasTraces: tracer !== undefined });
  return {
    step: deliveryMetrics.watch(step),
    tools: { ...flow.tools, lease: openRequests.hold, cut: () => requests[Symbol.asyncDispose]() },
    turns,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

function openTokens({ config, redis, metrics, log }: Service<Config>, callTokenUrl: CallTokenUrl): AccessTokens {
  const clock = systemClock;
  const fetch = watchFetches(fetchingTokens(callTokenUrl), { metrics, log, clock });
  return new AccessTokens({ fetch, shared: sharedTokensIn({ redis, keyRing: config.keyRing, log, clock }), clock });
}
