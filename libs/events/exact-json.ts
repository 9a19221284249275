import type { JsonNumber } from './json.ts';

/** A number as code uses it: a `bigint` is a whole one that no double holds, a `JsonNumber` any other. */
export type Numeric = number | bigint | JsonNumber;

/** JSON whose numbers are none but those that were meant. */
export type ExactValue = null | boolean | string | Numeric | readonly ExactValue[] | ExactObject;
export type ExactObject = { readonly [name: string]: ExactValue };
