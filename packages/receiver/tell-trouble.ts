import type { Refusal } from './refusal.ts';
import { requireFunctions } from './require-options.ts';

/** Something here failed, not the request. */
export type Failure = {
  kind: 'failed';
  in: 'checks' | 'store' | 'work' | 'time limit';
  error: unknown;
  id?: string;
  action?: string;
};

/** A problem of a request, for people to look at. */
export type Trouble = Refusal | Failure;

/** Calls the integrator's hook, whose faults must leave no request without an answer, and must not end the process. */
export function tellTrouble(onTrouble: (trouble: Trouble) => unknown = printer()): (trouble: Trouble) => void {
  requireFunctions({ onTrouble });
  return (trouble) => {
    const told = async (): Promise<unknown> => onTrouble(trouble);
    told().catch((error: unknown) => console.error('waybell receiver: onTrouble', error));
  };
}

/** Strangers cause 4xx all the time; but the first may be one's own fault: a wrong secret. */
function printer(): (trouble: Trouble) => void {
  const printed = new Set<string>();
  return (trouble) => {
    if (trouble.kind === 'failed')
      return console.error('waybell receiver:', trouble.in, trouble.id ?? '', trouble.error);
    const { reason, status, detail } = trouble;
    if (status < 500 && printed.has(reason)) return;
    printed.add(reason);
    console.error(`waybell receiver: ${reason}: ${detail}${status < 500 ? ' (further ones are not printed)' : ''}`);
  };
}
