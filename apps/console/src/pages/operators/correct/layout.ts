import { placesIn } from './json-places.ts';

/** A string, or anything else between blanks. */
const PARTS = /"(?:[^"\\]|\\.)*"|[^\s"]+/g;

/** Whether a body is to be laid out on lines, so that a line says something: it is JSON, all on one. */
export const isOnOneLine = (body: string): boolean => !body.trim().includes('\n') && isJson(body);

/** JSON without the blanks between its parts, digit for digit: laid out it may be larger than an event may be. Anything else as it is. */
export const withoutBlanks = (text: string): string =>
  isJson(text) ? Array.from(text.matchAll(PARTS), ([part]) => part).join('') : text;

const isJson = (text: string): boolean => placesIn(text, '#').brokenLine === undefined;
