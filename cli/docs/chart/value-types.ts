import { bool, bytes, count, duration, durations, port, wait } from '@waybell/runtime/environment';
import type { Setting } from '../../settings.ts';

export type SettingSchema = Record<string, unknown>;

export type Properties = Record<string, SettingSchema | true>;

/** A value that is mistyped is refused, with its name. */
export function anObject(properties: Properties, required?: readonly string[]): SettingSchema {
  return { type: 'object', additionalProperties: false, required, properties };
}

/** A schema of these members only, each from a definition; an error then names the refused member and its place. */
export function only(names: readonly string[], definition: string): SettingSchema {
  return { ...named(definition), ...anObject(Object.fromEntries(names.map((name) => [name, true]))) };
}

export function aText(description?: string, minLength?: number): SettingSchema {
  return { description, type: 'string', minLength };
}

export function aNumber(minimum: number, description?: string): SettingSchema {
  return { description, type: 'integer', minimum };
}

export function named(definition: string): SettingSchema {
  return { $ref: `#/$defs/${definition}` };
}

/** A map that Kubernetes defines and checks. */
export const map: SettingSchema = { type: 'object' };
export const list: SettingSchema = { type: 'array', items: map };
export const textList: SettingSchema = { type: 'array', items: aText() };
export const texts: SettingSchema = { type: 'object', additionalProperties: { type: 'string' } };

export const enabled: SettingSchema = { type: 'boolean' };

/** The same, or null: none. */
export const orNull = (schema: SettingSchema): SettingSchema => ({ ...schema, type: ['object', 'null'] });

export const ingress = anObject({
  enabled,
  className: aText(),
  annotations: texts,
  host: aText(),
  tlsSecret: aText(),
});

const ports = { type: 'array', minItems: 1, items: aNumber(1) };
export const peers = anObject({ to: list, ports });

/** Settings in a Secret or a ConfigMap. */
export function references(keys: string): SettingSchema {
  const one = anObject({ secret: aText('its name', 1), configMap: aText('its name', 1), keys: named(keys) }, ['keys']);
  return { type: 'array', items: { ...one, oneOf: [{ required: ['secret'] }, { required: ['configMap'] }] } };
}

const DURATION = String.raw`\d+(\.\d+)?(ms|s|m|h|d)`;
const times: SettingSchema = { type: 'string', pattern: `^${DURATION}$` };

const limit = { per: 'process', default: 1 } as const;

/** Types by the reader of the setting. A setting with a check of its own is any text: the process reports its faults. */
const TYPES: [readers: object[], schema: SettingSchema][] = [
  [[bool({})], { enum: [true, false, 'true', 'false'] }],
  [[count(limit), port({})], { type: ['integer', 'string'], minimum: 1, pattern: String.raw`^[1-9]\d*$` }],
  [[duration({}), wait({})], times],
  [[durations({})], { anyOf: [{ type: 'string' }, { type: 'array', items: times }] }],
  [[bytes(limit)], { type: ['integer', 'string'], minimum: 1, pattern: String.raw`^\d+ *(KiB|MiB|GiB)?$` }],
];

/** A setting among the chart's values. */
export function settingSchema(setting: Setting): SettingSchema {
  const found = TYPES.find(([readers]) => readers.some((reader) => parserOf(reader) === parserOf(setting)));
  return { description: setting.desc, ...(found?.[1] ?? textOf(setting)) };
}

const parserOf = (spec: object) => ('_parse' in spec ? spec._parse : undefined);

function textOf(setting: Setting): SettingSchema {
  if ('choices' in setting) return { enum: setting.choices };
  if (!Array.isArray(setting.default)) return { type: 'string' };
  return { type: ['string', 'array'], items: { type: 'string' } };
}
