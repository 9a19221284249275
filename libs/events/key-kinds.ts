import { actions } from '@waybell/catalog/actions';
import type { JsonObject } from './json.ts';
import { keysOf } from './keys.ts';

// An example is JSON.
const ofExamples = actions.flatMap(({ example, keys }) => keysOf(example as JsonObject, keys).map(({ kind }) => kind));
const ofMembers = actions.flatMap(({ keys }) => Object.values(keys));

/**
 * The kinds of key that the catalog names. A guid in a payload that the catalog leaves open is a key too, with its member's name
 * as kind, so a key may have a kind that is not listed.
 */
export const keyKinds: readonly string[] = [...new Set(['guid', 'subject', ...ofMembers, ...ofExamples])].toSorted();
