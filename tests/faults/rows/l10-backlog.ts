import { serviceNames } from '@waybell/stack/services';
import type { Ledger } from '../../testing/ledger.ts';
import { subscribed } from '../../testing/subscribers.ts';
import { until } from '@waybell/runtime/testing/until';
import type { Course, Fault } from '../fault.ts';
import type { Scale, Stage } from '../stage.ts';

const BACKLOG = { short: 20_000, release: 500_000 };
/** Share of the backlog that is delivered as it comes, to know how fast that goes. */
const STEADY_PART = 1 / 10;
/** How fast it drains, restarts included, of how fast deliveries go end to end. */
const LEAST_OF_STEADY = 0.9;
const UNCONFIRMED = 500;

/** A backlog that every process is restarted twice beside while it drains. */
export const backlog: Fault[] = [
  {
    row: 'L10',
    name: 'a backlog, every service restarted twice while it drains',
    // The shipped limits of what is held: memory is to stay flat with them.
    settings: { DELIVER_SLOTS: '', DELIVER_HELD: '' },
    bars: { duplicates: 0, megabytes: 300 },
    run: drainBacklog,
  },
];

async function drainBacklog(stage: Stage, ledger: Ledger): Promise<Course> {
  const { stack, receiver, scale } = stage;
  const size = BACKLOG[scale];
  const publish = await openUpstream(stage, ledger);
  const received = () => receiver.received.length;
  const untilReceived = (count: number) => until('more has come', () => received() >= count, received);

  const steady = size * STEADY_PART;
  const steadyPerSecond = await rateOf(steady, async () => {
    await publish(steady);
    await untilReceived(steady);
  });
  await stack.stack.service('deliverer').stop();
  await publish(size);
  const startedAt = performance.now();
  const drainPerSecond = await rateOf(size, async () => {
    await stack.stack.service('deliverer').start();
    for (const [place, name] of [...serviceNames, ...serviceNames].entries()) {
      await untilReceived(steady + ((place + 1) / (2 * serviceNames.length + 1)) * size);
      await stack.stack.service(name).restart();
    }
    await untilReceived(steady + size);
  });
  await ledger.untilSettled();
  return {
    atRestSeconds: (performance.now() - startedAt) / 1_000,
    notes: [`drained ${drainPerSecond}/s, restarts included; end to end without a backlog ${steadyPerSecond}/s`],
    problems: problemsOf({ drainPerSecond, steadyPerSecond }, scale),
  };
}

/** In its short form the restarts take longer than the backlog. */
function problemsOf(rates: { drainPerSecond: number; steadyPerSecond: number }, scale: Scale): string[] {
  const share = rates.drainPerSecond / rates.steadyPerSecond;
  if (scale === 'short' || share >= LEAST_OF_STEADY) return [];
  return [`drained at ${share.toFixed(2)} of the rate without a backlog, at least ${LEAST_OF_STEADY}`];
}

async function rateOf(count: number, work: () => Promise<void>): Promise<number> {
  const beganAt = performance.now();
  await work();
  return Math.round((count / (performance.now() - beganAt)) * 1_000);
}

/** Makes a subscriber; resolves with what publishes so many events for it and waits for the confirms. */
async function openUpstream(stage: Stage, ledger: Ledger): Promise<(count: number) => Promise<void>> {
  const party = await subscribed(stage, {
    interface: 'shipper',
    action: 'order.booked',
    folder: '/backlog',
    answers: [200],
  });
  return async (count) => {
    let left = count;
    const publishOn = async () => {
      while (left > 0) {
        left -= 1;
        await ledger.publish(party);
      }
    };
    await Promise.all(Array.from({ length: UNCONFIRMED }, publishOn));
  };
}
