import { noResult } from '@waybell/line/messages';
import type { DeliverOptions } from '../deliver.ts';

/** For deliverers whose receivers need no token. */
export const NO_TOKENS: DeliverOptions['tokens'] = {
  atHand: () => undefined,
  ask: async () => ({ kind: 'none', why: noResult(new Error('there are no tokens')) }),
};
