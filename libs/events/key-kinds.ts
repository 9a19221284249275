import { actions } from '@waybell/catalog/actions';
import type { JsonObject } from './json.ts';
import { keysOf } from './keys.ts';

// An example is JSON.
const ofExamples = actions.flatMap(({ example, keys }) => keysOf(example as JsonObject, keys).map(({ kind }) => kind));
const ofMembers = actions.flatMap(({ keys }) => Object.values(keys));

/**
 * The kinds of key that the catalog tells of, by name. A guid in a payload that the catalog leaves open is a key by whatever
 * name it has there, so that a key may have yet another kind.
 */
export const keyKinds: readonly string[] = [...new Set(['guid', 'subject', ...ofMembers, ...ofExamples])].toSorted();
