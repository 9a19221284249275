import { isGuid } from '@waybell/events/guid';

/** A guid from the command line, in lower case. Throws, naming the option, where it is none. */
export function readGuid(text: string, option: string): string {
  const guid = text.trim().toLowerCase();
  if (!isGuid(guid)) throw new Error(`${option}: "${text}" is not a guid`);
  return guid;
}
