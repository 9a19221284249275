import { guidsOf, isGuid } from './guid.ts';
import { isArray, isObject, type JsonObject, type JsonValue } from './json.ts';

/** More than any action names: what somebody puts into an open payload must not swell the record of it. */
const MOST_SUBJECTS = 32;

/** What an event is about: the guids in its payload, in lower case, each once, in the order in which they come. */
export function subjectsOf(payload: JsonObject): string[] {
  const found: string[] = [];
  collect(payload, found);
  return found;
}

/** The same, as far as can be told, of a text that could not be read as an event. */
export function guidsIn(text: string, except: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  for (const guid of guidsOf(unescaped(text).toLowerCase())) {
    if (!except.has(guid)) found.add(guid);
    if (found.size === MOST_SUBJECTS) break;
  }
  return [...found];
}

/** The text of some JSON, broken or not, without escapes such as `\u0061`: what it says whoever wrote it and however. */
export function unescaped(text: string): string {
  return text.replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function collect(value: JsonValue, found: string[]): void {
  if (found.length === MOST_SUBJECTS) return;
  if (typeof value === 'string') addGuid(value, found);
  else if (isArray(value)) for (const each of value) collect(each, found);
  else if (isObject(value)) for (const name of Object.keys(value)) collect(value[name] ?? null, found);
}

function addGuid(text: string, found: string[]): void {
  if (!isGuid(text)) return;
  const guid = text.toLowerCase();
  if (!found.includes(guid)) found.push(guid);
}
