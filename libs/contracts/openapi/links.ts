import type { Interface } from '@waybell/catalog/action';
import type { JsonNode } from './json-node.ts';

/**
 * The value at this place of an answer is a parameter of another operation; or a member of its body, with an example for the
 * other members.
 */
export type LinkTarget = { operationId: string; at: string } & (
  | { parameter: string }
  | { member: string; others: JsonNode }
);

/** Wrapping of an interface's answers. */
const WITHIN: Record<'list' | 'object', Record<Interface, string>> = {
  list: { shipper: '/data', carrier: '' },
  object: { shipper: '/data/object', carrier: '' },
};

/** Links that lead on from an answer, on each interface. */
export function links(
  interfaces: readonly Interface[],
  form: keyof typeof WITHIN,
  targets: readonly LinkTarget[],
): JsonNode {
  const named = interfaces.flatMap((name) =>
    targets.map((target): [string, JsonNode] => [`${target.operationId}.${name}`, link(target, WITHIN[form][name])]),
  );
  return Object.fromEntries(named);
}

/** The same of answers that nothing is wrapped around. */
export function bareLinks(targets: readonly LinkTarget[]): JsonNode {
  return Object.fromEntries(targets.map((target) => [target.operationId, link(target, '')]));
}

function link({ operationId, at, ...target }: LinkTarget, within: string): JsonNode {
  const value = `$response.body#${within}${at}`;
  if ('parameter' in target) return { operationId, parameters: { [target.parameter]: value } };
  return { operationId, requestBody: { [target.member]: value, ...target.others } };
}

/** Each of these operations takes the guid that is at this place. */
export const byGuid = (at: string, ...operationIds: string[]): LinkTarget[] =>
  operationIds.map((operationId) => ({ operationId, parameter: 'guid', at }));
