import { actionKey, actions } from '@waybell/catalog/actions';

/**
 * The keys of the actions that `patterns` name: `*`, `shipper.*`, `carrier.order.created`.
 * Throws, naming the pattern, where one names none.
 */
export function selectActions(patterns: readonly string[]): string[] {
  const keys = actions.map(actionKey);
  const selected = patterns.flatMap((pattern) => {
    const matching = keys.filter((key) =>
      pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern,
    );
    if (matching.length === 0)
      throw new Error(`no action matches "${pattern}": write *, shipper.*, or carrier.order.created`);
    return matching;
  });
  return [...new Set(selected)];
}
