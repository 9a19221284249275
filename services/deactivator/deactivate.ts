import type { DeliveryEnd } from '@waybell/line/outcomes';
import { allAtOnce } from '@waybell/line/handlers';
import type { Handler } from '@waybell/line/messages';
import type { NoteEnds } from './note-ends.ts';

export type DeactivateOptions = { noteEnds: NoteEnds };

/**
 * Notes ends of deliveries; subscriptions whose deliveries only fail are switched off. The deliverer decides which ends count
 * (`libs/line/delivery-ends.ts`). `switch_off` stores each deactivation, and `deactivations.ts` publishes it from there.
 */
export function deactivate({ noteEnds }: DeactivateOptions): Handler<DeliveryEnd[]> {
  return allAtOnce(async (batch) => {
    await noteEnds(batch.flat());
    return [];
  });
}
