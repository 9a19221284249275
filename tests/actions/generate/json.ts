import type { Dice } from './dice.ts';

/** A JSON value as upstream writes it and, where that differs, as receivers must get it. */
export type Json =
  | { kind: 'text'; written: string; sent: string }
  | { kind: 'object'; members: Entry[] }
  | { kind: 'array'; items: Json[] };

export type Entry = [name: string, value: Json];
export type JsonObject = Extract<Json, { kind: 'object' }>;

export const same = (text: string): Json => ({ kind: 'text', written: text, sent: text });
export const quoted = (text: string): Json => same(JSON.stringify(text));
export const nothing = same('null');
export const object = (members: Entry[]): JsonObject => ({ kind: 'object', members });
export const array = (items: Json[]): Json => ({ kind: 'array', items });

/** Writes JSON as receivers get it: compact. */
export function sentText(json: Json): string {
  if (json.kind === 'text') return json.sent;
  if (json.kind === 'array') return `[${json.items.map(sentText).join(',')}]`;
  return `{${json.members.map(([name, value]) => `${JSON.stringify(name)}:${sentText(value)}`).join(',')}}`;
}

/** Writes JSON as upstream does: now and then with white space. */
export function writtenText(json: Json, dice: Dice): string {
  if (json.kind === 'text') return json.written;
  const [space, comma] = dice.oneIn(4) ? [dice.pick([' ', '\n', '\t']), dice.pick([', ', ' ,', '\r\n,'])] : ['', ','];
  if (json.kind === 'array') return `[${space}${json.items.map((item) => writtenText(item, dice)).join(comma)}]`;
  const members = json.members.map(([name, value]) => `${JSON.stringify(name)}${space}:${writtenText(value, dice)}`);
  return `{${space}${members.join(comma)}${space}}`;
}

export function valueIn(json: JsonObject, name: string): Json | undefined {
  return json.members.find(([each]) => each === name)?.[1];
}

/** Replaces the member, adds it where it is missing, or takes it away. */
export function setIn(json: JsonObject, name: string, value: Json | undefined): void {
  const index = json.members.findIndex(([each]) => each === name);
  if (index >= 0) json.members.splice(index, 1, ...(value === undefined ? [] : [[name, value] satisfies Entry]));
  else if (value !== undefined) json.members.push([name, value]);
}

export const isNull = (json: Json | undefined): boolean =>
  json === undefined || (json.kind === 'text' && json.sent === 'null');
