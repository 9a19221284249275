import { withConstants } from '@waybell/runtime/gone-settings';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareBroker } from '@waybell/stack/prepare';
import { deliveryQueue, returnsExchange, routerQueue } from '@waybell/line/topology';
import type { Ledger } from '../../testing/ledger.ts';
import type { Ending, Owed } from '../../testing/owed.ts';
import { ACTIONS, subscribed } from '../../testing/subscribers.ts';
import { until } from '@waybell/runtime/testing/until';
import type { Fault } from '../fault.ts';
import { faultSettings } from '../fault-settings.ts';
import { onChannel } from '../../testing/on-channel.ts';
import type { Stage } from '../stage.ts';
import { underLoad, type Inject } from '../under-load.ts';

const BROKEN_MS = { short: 3_000, release: 20_000 };
const QUIET_EVENTS = 20;
/** An action that has retries under load, and one that has no traffic of its own. */
const RETRIED = 'shipper.order.paid';
const QUIET = 'order.archived';
const quietQueue = deliveryQueue(`shipper.${QUIET}`);

const UNBOUND = 'a binding deleted while retries wait';

const faults: Record<string, Inject> = {
  async [UNBOUND](stage) {
    await onChannel(stage.stack.brokerUrl, (channel) =>
      channel.unbindQueue(deliveryQueue(RETRIED), returnsExchange, RETRIED),
    );
    await sleep(BROKEN_MS[stage.scale]);
    await onChannel(stage.stack.brokerUrl, (channel) =>
      channel.bindQueue(deliveryQueue(RETRIED), returnsExchange, RETRIED),
    );
  },
  async 'a queue deleted'(stage, ledger) {
    const publish = await quietSubscriber(stage, ledger);
    await onChannel(stage.stack.brokerUrl, (channel) => channel.deleteQueue(quietQueue));
    await publish();
    await sleep(BROKEN_MS[stage.scale]);
    await prepareBroker({ url: stage.stack.brokerUrl }, withConstants(faultSettings));
  },
  async 'a queue declared with other arguments'({ stack }) {
    const other = { ...faultSettings, EVENTS_QUEUE_LIMIT: '1000000' };
    const refusal = String(await prepareBroker({ url: stack.brokerUrl }, withConstants(other)).catch(String));
    const named = [routerQueue, "'x-max-length-bytes'"];
    return named.filter((name) => !refusal.includes(name)).map((name) => `${name} is not named: ${refusal}`);
  },
  async 'a queue that nobody consumes'(stage, ledger) {
    const publish = await quietSubscriber(stage, ledger);
    const deliverer = stage.stack.stack.service('deliverer');
    deliverer.spec.env['DELIVER_ACTIONS'] = ['carrier.*', ...ACTIONS.shipper.map((name) => `shipper.${name}`)].join();
    await deliverer.restart();
    await publish();
    await sleep(BROKEN_MS[stage.scale]);
    const look = () => onChannel(stage.stack.brokerUrl, (channel) => channel.checkQueue(quietQueue));
    await until('its messages wait', async () => (await look()).messageCount > 0);
    const { consumerCount } = await look();
    delete deliverer.spec.env['DELIVER_ACTIONS'];
    await deliverer.restart();
    // The alert for such queues evaluates this.
    return consumerCount === 0 ? [] : [`${consumerCount} consumers where nobody was to consume`];
  },
};

/**
 * Events affected by an operator's mistake wait, or are rejected with the reason, and can be sent again; other actions are not
 * affected.
 */
export const topologyBroken: Fault[] = Object.entries(faults).map(([name, inject]) => ({
  row: 'L14',
  name,
  bars: { duplicates: 0, movingAgainSeconds: 5 },
  run: underLoad(inject, name === UNBOUND ? { permits: strayed } : {}),
}));

/** A retry that comes due meanwhile is rejected, after the attempts that it has had. */
function strayed({ to, ends }: Owed): Ending[] {
  const [first] = ends;
  const isRetried = to?.path.startsWith('/shipper/') && to.path.endsWith('/order.paid');
  if (!isRetried || first === undefined || !('answers' in first) || first.answers === undefined) return [];
  return [{ kind: 'rejected', reason: 'unroutable', answers: first.answers }];
}

/** Makes a subscriber to the quiet action; the function publishes events for it. */
async function quietSubscriber(stage: Stage, ledger: Ledger): Promise<() => Promise<void>> {
  const party = await subscribed(stage, { interface: 'shipper', action: QUIET, folder: '/quiet', answers: [200] });
  return async () => {
    for (let published = 0; published < QUIET_EVENTS; published += 1) await ledger.publish(party);
  };
}
