import type { DeliveryEnd } from '@waybell/line/outcomes';
import type { Handler } from '@waybell/line/messages';
import type { NoteEnds } from './note-ends.ts';

export type DeactivateOptions = { noteEnds: NoteEnds };

/**
 * Switches a subscription off when its deliveries only fail. Which ends count, the deliverer knows (`libs/line/delivery-ends.ts`); what
 * was switched off is written down with that, and told from there (`deactivations.ts`).
 */
export function deactivate({ noteEnds }: DeactivateOptions): Handler<DeliveryEnd[]> {
  return async (ends) => {
    await noteEnds(ends);
    return [];
  };
}
