import { desiredSubscriptions } from '@waybell/contracts/openapi/subscription-paths';
import type { JsonNode } from '@waybell/contracts/openapi/json-node';
import { matchesPattern } from '@waybell/catalog/names';
import { schemaFaults } from '@waybell/subscription-api/rest/http/request-schema';
import { parse } from 'yaml';

/** Subscriptions to have, as the API takes them. */
export type DesiredSubscriptions = { callback_url: string; actions: string[]; audit_field_set?: string[] | null };

// Whether to switch on is said by the command.
const { is_active: _isActive, ...properties } = desiredSubscriptions['properties'] as JsonNode;
const faultsOf = schemaFaults({ ...desiredSubscriptions, properties });

/** Reads a file of subscriptions to have, YAML or JSON: one entry, or a list. Throws an Error that names every fault. */
export function readDesired(text: string, file: string): DesiredSubscriptions[] {
  const parsed = parsedOf(text, file);
  const entries = Array.isArray(parsed) ? parsed : [parsed];
  const faults = entries.flatMap((entry: unknown, index) =>
    faultsOf(entry).map(({ path, detail }) => {
      const place = [...(Array.isArray(parsed) ? [index] : []), ...path].join('.');
      return `${file}: ${place === '' ? 'it' : place} ${detail}`;
    }),
  );
  if (entries.length === 0) faults.push(`${file}: it is an empty list`);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  // Each entry fits the schema.
  return entries as DesiredSubscriptions[];
}

function parsedOf(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const hint = said.startsWith('Alias ') ? "\nYAML takes what begins with * for an alias: write '*', in quotes" : '';
    throw new Error(`${file}: ${said.trim()}${hint}`, { cause: error });
  }
}

/** Throws if two entries choose the same action: each run would change it twice. */
export function requireDistinct(entries: readonly DesiredSubscriptions[], names: readonly string[]): void {
  const twice = names.flatMap((name) => {
    const places = entries.flatMap(({ actions }, at) =>
      actions.some((each) => matchesPattern(name, each)) ? [at] : [],
    );
    return places.length < 2 ? [] : [`${name} is chosen by ${places.map((at) => `${at}.actions`).join(' and ')}`];
  });
  if (twice.length > 0) throw new Error(`an action has one subscription, with one URL:\n${twice.join('\n')}`);
}
