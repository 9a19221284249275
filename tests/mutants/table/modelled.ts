import type { Mutant } from '../mutant.ts';

/** Of the model, which has the order of the wrapper in its own words. */
export const modelled: readonly Mutant[] = [
  {
    name: 'model: acknowledges before the confirm',
    promise: 'the model of the hand-over can fail',
    file: 'tests/model/world.ts',
    find: "acknowledges: 'when confirmed',",
    replace: "acknowledges: 'when sent',",
    seenBy: ['tests/model/hand-over.test.ts'],
  },
  {
    name: 'model: remembers before the confirm',
    promise: 'the model of the hand-over can fail',
    file: 'tests/model/world.ts',
    find: "remembers: 'when confirmed',",
    replace: "remembers: 'when sent',",
    seenBy: ['tests/model/hand-over.test.ts'],
  },
  {
    name: 'model: remembers nothing',
    promise: 'the model of the hand-over can fail',
    file: 'tests/model/world.ts',
    find: "remembers: 'when confirmed',",
    replace: "remembers: 'never',",
    seenBy: ['tests/model/hand-over.test.ts'],
  },
  {
    name: 'model: hears no refusals',
    promise: 'the model of the hand-over can fail',
    file: 'tests/model/world.ts',
    find: 'hearsRefusals: true,',
    replace: 'hearsRefusals: false,',
    seenBy: ['tests/model/hand-over.test.ts'],
  },
  {
    name: 'model: hears no returns',
    promise: 'the model of the hand-over can fail',
    file: 'tests/model/world.ts',
    find: 'hearsReturns: true,',
    replace: 'hearsReturns: false,',
    seenBy: ['tests/model/hand-over.test.ts'],
  },
  {
    name: 'model: copies side by side',
    promise: 'the model of the hand-over can fail',
    file: 'tests/model/world.ts',
    find: 'takesTurns: true,',
    replace: 'takesTurns: false,',
    seenBy: ['tests/model/hand-over.test.ts'],
  },
  {
    name: 'model: suspects given back',
    promise: 'the model of the hand-over can fail',
    file: 'tests/model/world.ts',
    find: "givesBackSuspects: 'put aside',",
    replace: "givesBackSuspects: 'to the broker',",
    seenBy: ['tests/model/hand-over.test.ts'],
  },
];
