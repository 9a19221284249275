import type { DeliveryEnd } from '@waybell/line/outcomes';
import { allAtOnce, type Handler } from '@waybell/line/messages';
import type { EndGone } from './end-gone.ts';
import type { NoteEnds } from './note-ends.ts';

export type DeactivateOptions = { noteEnds: NoteEnds; endGone: EndGone };

/**
 * Notes ends of deliveries; subscriptions whose deliveries only fail are switched off. Ends those whose receiver is gone. The deliverer
 * decides which ends count
 * (`libs/line/outcome-batch.ts`). `switch_off` stores each deactivation, and `deactivations.ts` publishes it from there.
 */
export function deactivate({ noteEnds, endGone }: DeactivateOptions): Handler<DeliveryEnd[]> {
  return allAtOnce(async (batch) => {
    const ends = batch.flat();
    const gone = ends.filter(({ isGone }) => isGone);
    if (gone.length > 0) await endGone(gone);
    await noteEnds(ends.filter(({ isGone }) => !isGone));
    return [];
  });
}
