import type { Balance } from './balance.ts';
import { reportFault } from './fault-table.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import type { Receiver } from './receiver.ts';
import { subscribers } from './subscribers.ts';
import type { TestStack } from './test-stack.ts';
import { until } from './until.ts';

export type Fault = {
  name: string;
  stack: TestStack;
  receiver: Receiver;
  /** Breaks something; resolves when it is no longer being broken. */
  inject: () => Promise<void>;
};

const EVENTS_PER_SECOND = 400;
const EVENTS_BEFORE = 300;
const EVENTS_AFTER = 600;

/** Breaks something under load, waits until the line has come to rest, prints a row of figures and returns them. */
export async function underFault({ name, stack, receiver, inject }: Fault): Promise<Balance> {
  const parties = await subscribers(stack, receiver);
  const ledger = await Ledger.open(stack, receiver);
  const load = new Load({ upstream: stack.upstream, ledger, parties, eventsPerSecond: EVENTS_PER_SECOND });
  await until('there is load', () => ledger.published >= EVENTS_BEFORE && receiver.received.length > 0);
  const faultAt = performance.now();
  const moved = ledger.movedAgain(faultAt);
  await inject();
  const movingAgainSeconds = await moved;
  const before = ledger.published;
  await until('there is load again', () => ledger.published >= before + EVENTS_AFTER);
  await load.stop();
  const stoppedAt = performance.now();
  await ledger.untilQuiet();
  const atRestSeconds = (performance.now() - stoppedAt) / 1_000;
  await untilDeadAreOff(stack);
  const balance = ledger.balance();
  reportFault({ name, published: ledger.published, balance, movingAgainSeconds, atRestSeconds });
  return balance;
}

/** Carriers that only failed are off: what the deactivator was to do is done as well. */
async function untilDeadAreOff({ postgres }: TestStack): Promise<void> {
  await until('every carrier that never answered with success is switched off', async () => {
    const { rowCount } = await postgres.query(
      "select from waybell.subscriptions where is_active and interface = 'carrier' and callback_url like '%/dead/%'",
    );
    return rowCount === 0;
  });
}
