import { InvalidArgumentError } from 'commander';
import { parseDurationMs } from '@waybell/runtime/duration';

/** For an option that is a length of time, such as 12h or 90d. */
export function durationMs(duration: string): number {
  try {
    return parseDurationMs(duration);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : '');
  }
}
