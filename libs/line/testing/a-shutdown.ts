import type { StepTools } from '../run-step.ts';

/** A shutdown that begins, and becomes due, when the test says so. */
export function aShutdown(): Required<StepTools>['shutdown'] & { begin(): void; end(): void; held(): number } {
  const [begun, due] = [new AbortController(), new AbortController()];
  const watched: (() => number)[] = [];
  return {
    begun: begun.signal,
    due: due.signal,
    watch: (held) => void watched.push(held),
    begin: () => begun.abort(),
    end: () => due.abort(),
    held: () => watched.reduce((sum, held) => sum + held(), 0),
  };
}
