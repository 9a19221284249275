import { writeJson, type JsonValue, pointerTo } from '@waybell/events/json';
import { readJson } from '@waybell/events/read-json';

/** A place in an event, as a JSON pointer, and its new value. */
export type MemberSetting = { pointer: string; value: JsonValue };

const MAX_DEPTH = 32;

/**
 * Reads `payload.customer.name=Ann`, or with a JSON pointer `/payload/a.b=1`. The value is JSON, digit for digit, where it is any, and
 * text otherwise. Throws where there is no place.
 */
export function readSetting(text: string): MemberSetting {
  const at = text.indexOf('=');
  if (at < 1) throw new Error(`"${text}" sets nothing: write --set payload.id=4711`);
  const place = text.slice(0, at);
  const pointer = place.startsWith('/') ? place : place.split('.').map(pointerTo).join('');
  return { pointer, value: valueOf(text.slice(at + 1)) };
}

function valueOf(text: string): JsonValue {
  const reading = readJson(Buffer.from(text), MAX_DEPTH);
  return reading.kind === 'value' ? reading.value : text;
}

/** The body of a request to trigger, numbers digit for digit. */
export function triggerBody(action: string, settings: readonly MemberSetting[], isEverywhere = false): string {
  const set = Object.fromEntries(settings.map(({ pointer, value }) => [pointer, value]));
  return writeJson({ action, set, ...(isEverywhere && { everywhere: true }) });
}
