import type { DeliverOptions } from '../deliver.ts';

/** Of deliverers none of whose receivers asks for one. */
export const NO_TOKENS: DeliverOptions['tokens'] = {
  atHand: () => undefined,
  ask: async () => ({ kind: 'error', error: new Error('there are no tokens') }),
};
