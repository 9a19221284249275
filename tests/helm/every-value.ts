import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHART } from './helm.ts';

// A schema of the chart, as its generator writes it.
type ValueSchema = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  minimum?: number;
  items?: ValueSchema;
  required?: string[];
  maxProperties?: number;
  properties?: Record<string, ValueSchema | true>;
  additionalProperties?: ValueSchema | boolean;
};

const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'));
export const OWN_VALUES = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'));

/** The schema with the members of what it refers to. A member `true` is of that. */
function resolved(one: ValueSchema): ValueSchema {
  if (one.$ref === undefined) return one;
  const of = resolved(schema.$defs[one.$ref.replace('#/$defs/', '')]);
  const members = Object.entries(one.properties ?? of.properties ?? {}).map(([name, member]) => [
    name,
    member === true ? (of.properties?.[name] ?? of.additionalProperties) : member,
  ]);
  return { ...of, ...one, properties: Object.fromEntries(members) };
}

export type ChartValue = { path: string[]; changed: unknown };

/** A valid value that no chart has by itself; undefined where the schema names none. */
function another(one: ValueSchema, now: unknown): unknown {
  const { type, enum: words, pattern, minimum = 0, items } = resolved(one);
  const [kind] = [type].flat();
  if (words !== undefined) return words.find((word) => word !== now);
  if (kind === 'boolean') return now !== true;
  if (kind === 'integer') return typeof now === 'number' ? now + 1 : Math.max(minimum, 417);
  if (kind === 'string')
    return pattern?.includes('sha256') ? `sha256:${'f'.repeat(64)}` : pattern ? undefined : 'another';
  if (kind === 'array') {
    const item = resolved(items ?? {});
    if (item.pattern !== undefined) return ['*', 'shipper.*'];
    if (item.type === 'string') return ['another'];
    if (item.type === 'integer') return [417];
    if (item.properties?.['secret'] === undefined) return [{ another: 'one' }];
    const { keys } = item.properties;
    return [{ secret: 'another', keys: aKey(keys === true ? {} : (keys ?? {})) }];
  }
  return { another: 'one' };
}

/** A setting that no process is given in another way. */
const aKey = (keys: ValueSchema) =>
  Object.fromEntries(
    ['TLS_CERTIFICATE', 'TLS_KEY']
      .filter((name) => name in (resolved(keys).properties ?? {}))
      .map((name) => [name, name]),
  );

const SETTING_TYPES = ['boolean', 'integer'];

/** Each value that the schema knows, and a change of it; `values` are those that are set now. */
export function everyValue(values: object): ChartValue[] {
  return [...valuesBelow(schema, [], values)];
}

function* valuesBelow(given: ValueSchema, path: string[], now: unknown): Generator<ChartValue> {
  const one = resolved(given);
  const { properties, additionalProperties: further } = one;
  const at = (name: string) => (typeof now === 'object' && now !== null ? Reflect.get(now, name) : undefined);
  if (given.$ref?.startsWith('#/$defs/keys')) {
    for (const name of Object.keys(properties ?? {}).filter((key) => at(key) !== undefined))
      yield { path: [...path, name], changed: 'another' };
    return;
  }
  if (given.$ref?.startsWith('#/$defs/settings')) {
    // One is enough to see the block: another test has each process and what it reads.
    const [name, setting] =
      Object.entries(properties ?? {}).find(([, each]) => each !== true && SETTING_TYPES.includes(String(each.type))) ??
      [];
    if (name !== undefined && setting !== undefined && setting !== true)
      yield { path: [...path, name], changed: another(setting, at(name)) };
    return;
  }
  if (properties === undefined) {
    const groups = typeof further === 'object' ? resolved(further) : {};
    if (groups.properties !== undefined)
      for (const name of Object.keys(Object(now)))
        yield* valuesBelow(further as ValueSchema, [...path, name], at(name));
    else yield { path, changed: another(one, now) };
    return;
  }
  if (one.maxProperties === 1) {
    // Helm removes what is null of the chart's own: one of them takes the place of the other.
    const own = path.reduce<unknown>((value, name) => Object(value)[name], OWN_VALUES);
    const none = Object.fromEntries(Object.keys(Object(own)).map((name) => [name, null]));
    for (const [name, member] of Object.entries(properties))
      if (member !== true) yield { path, changed: { ...none, [name]: another(member, at(name)) } };
    return;
  }
  for (const [name, member] of Object.entries(properties))
    yield* valuesBelow(member === true ? {} : member, [...path, name], at(name));
}

/** The places at which the schema knows the members. */
export function everyPlace(): string[][] {
  return [...placesBelow(schema, [])];
}

function* placesBelow(given: ValueSchema, path: string[]): Generator<string[]> {
  const { properties, additionalProperties: further } = resolved(given);
  if (properties !== undefined) {
    yield path;
    for (const [name, member] of Object.entries(properties))
      if (member !== true) yield* placesBelow(member, [...path, name]);
  } else if (typeof further === 'object' && resolved(further).properties !== undefined) {
    yield* placesBelow(further, [...path, 'another']);
  }
}

/** The values with one set. */
export function withValue(values: object, [name = '', ...below]: string[], changed: unknown): object {
  const now: unknown = Reflect.get(values, name);
  const inner =
    below.length === 0 ? changed : withValue(typeof now === 'object' && now !== null ? now : {}, below, changed);
  return { ...values, [name]: inner };
}
