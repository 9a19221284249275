import { overhear } from '@waybell/line/operating/connect-once';
import { readOutcomes } from '@waybell/line/outcome-batch';
import type { Outcome } from '@waybell/line/outcomes';
import { outcomesExchange } from '@waybell/line/topology';
import { brokerOf } from '@waybell/stack/address-of';

/** Shows every outcome from now on. */
export async function watchOutcomes(
  env: NodeJS.ProcessEnv,
  onOutcome: (outcome: Outcome) => void,
): Promise<AsyncDisposable> {
  const onBody = (body: Buffer) => readOutcomes(body).forEach(onOutcome);
  return overhear(brokerOf(env), { exchange: outcomesExchange, onBody });
}
