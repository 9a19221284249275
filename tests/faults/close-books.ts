import { until } from '@waybell/runtime/testing/until';
import type { Ledger } from '../testing/ledger.ts';
import { missingInLog } from './missing-in-log.ts';
import type { Stage } from './stage.ts';

/** Waits for what may still come, and for what others do with it. Resolves with what is wrong beside the ends. */
export async function closeBooks({ stack }: Stage, ledger: Ledger): Promise<string[]> {
  await ledger.untilQuiet();
  const areOff = until('every carrier that never answered with success is switched off', async () => {
    const { rowCount } = await stack.postgres.query(
      "select from waybell.subscriptions where is_active and interface = 'carrier' and callback_url like '%/dead/%'",
    );
    return rowCount === 0;
  });
  const wrong = await areOff.then(() => []).catch((error: unknown) => [String(error)]);
  const lost = new Set(ledger.balance().lost.map(({ delivery }) => delivery));
  const back = [...ledger.takenAway].filter((delivery) => !lost.has(delivery));
  return [
    ...wrong,
    ...back.map((delivery) => `${delivery} was taken away and is not missed: this bench would not see a loss`),
    ...ledger.unexpected(),
    ...(await missingInLog(stack, ledger)),
  ];
}
