import { bool, bytes, count, duration, durations, port, wait } from '@waybell/runtime/environment';
import type { Setting } from '../../settings.ts';

export type SettingSchema = Record<string, unknown>;

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
