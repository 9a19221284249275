import { InvalidArgumentError } from 'commander';
import { isGuid } from '@waybell/events/timestamp';
import { parseDurationMs } from '@waybell/runtime/duration';

/** For an option that is a number of things. */
export function positive(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1 to 999999.');
  return Number(text);
}

/** For an option that is a length of time, such as 12h or 90d. */
export function durationMs(duration: string): number {
  try {
    return parseDurationMs(duration);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : '');
  }
}

/** For options that can be given again and again: all that was given. */
export function collected(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** For commands that list clients' data. */
export const LISTENERS_OPTION = ['--listeners', 'those of "./waybell listen", too'] as const;

/** A guid from the command line, in lower case. Throws, naming the option, where it is none. */
export function readGuid(text: string, option: string): string {
  const guid = text.trim().toLowerCase();
  if (!isGuid(guid)) throw new Error(`${option}: "${text}" is not a guid`);
  return guid;
}
