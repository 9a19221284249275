import { InvalidArgumentError } from 'commander';

/** For an option that is a number of things. */
export function positive(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1 to 999999.');
  return Number(text);
}
