import type { Mutant } from './mutant.ts';
import { delivering } from './table/delivering.ts';
import { handingOver } from './table/handing-over.ts';
import { keeping } from './table/keeping.ts';
import { modelled } from './table/modelled.ts';
import { routing } from './table/routing.ts';

/** Every break that must be seen. `file` and `find` name a place in the code: whoever changes that changes its row too. */
export const mutants: readonly Mutant[] = [...routing, ...delivering, ...handingOver, ...keeping, ...modelled];
