import { waybell } from '../comparators/waybell.ts';
import { timeBetween } from '../lib/measure.ts';
import type { Scenario } from '../lib/scenario.ts';
import { startStand, type Stand } from '../lib/stand.ts';
import { evenly, smallActionKeys } from '../lib/workload.ts';

const ENDPOINT = { from: 0, to: 1, actionKeys: smallActionKeys };
/** Parts of the deliveries: the deliverer starts in the first, and comes to its end in the last. */
const [FROM, TO] = [0.1, 0.9];
const LEAST_PUT = 5_000;
const LEAST_DRAINED = 2_000;
const LIMIT_MS = 300_000;

export const parking: Scenario = {
  name: 'parking',
  description: 'how fast the deliverer puts what waits for one endpoint into its room, and sends it once that answers',
  async run({ isQuick, announce }) {
    const deliveries = isQuick ? 20_000 : 100_000;
    // All of them are routed before the first is delivered.
    await using stand = await startStand({ ROUTE_PAUSE_DEPTH: String(2 * deliveries) });
    await stand.seed(ENDPOINT, '/hang');
    await stand.receiver.call('hang', true);
    const running = await waybell.start(stand);
    try {
      announce(`${deliveries} deliveries, routed`);
      await route(stand, deliveries);
      announce('put');
      await stand.stack.service('deliverer').start();
      const put = await perSecond(() => waitingIn(stand), deliveries);
      announce('drained');
      const before = await stand.receiver.call('requests');
      await stand.receiver.call('hang', false);
      const drained = await perSecond(async () => (await stand.receiver.call('requests')) - before, deliveries);
      return {
        workload: `${deliveries} deliveries of 300 bytes wait in one queue, for one endpoint that hangs; one deliverer puts them into its room. Then the endpoint answers at once. Each rate is that between the first tenth and the last.`,
        settings: { deliveries },
        rounds: { waybell: [{ put, drained }] },
        tables: [{ title: 'One endpoint', columns: ['put/s', 'sent/s'], rows: [[put, drained]] }],
        checks: [
          { what: 'put a second', figure: put, bar: { atLeast: LEAST_PUT } },
          { what: 'sent a second', figure: drained, bar: { atLeast: LEAST_DRAINED } },
        ],
      };
    } finally {
      await running.stop();
    }
  },
};

/** Publishes so many events while no deliverer runs, and waits until each is a delivery. */
async function route({ stack, publisher, postgres }: Stand, events: number): Promise<void> {
  await stack.service('deliverer').stop();
  await publisher.call('connect', { url: stack.servers.url('rabbitmq'), exchange: 'waybell.events' });
  await publisher.call('start', { workload: evenly(ENDPOINT), pace: { kind: 'all', events } });
  await publisher.call('finish');
  await publisher.call('disconnect');
  const routed = async () => {
    const { rows } = await postgres.query<{ count: number }>(
      'select coalesce(sum(cardinality(subscriptions)), 0)::int as count from delivery_log.events',
    );
    return rows[0]?.count ?? 0;
  };
  await timeBetween(routed, { from: 0, least: events, limitMs: LIMIT_MS });
}

async function waitingIn({ postgres }: Stand): Promise<number> {
  const { rows } = await postgres.query<{ count: number }>('select count(*)::int from waybell.deliverer_waiting');
  return rows[0]?.count ?? 0;
}

async function perSecond(figure: () => Promise<number>, all: number): Promise<number> {
  const [from, least] = [FROM * all, TO * all];
  const ms = await timeBetween(figure, { from, least, limitMs: LIMIT_MS });
  return ((least - from) / ms) * 1_000;
}
