const GUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const LENGTH = 36;
const WHOLE_GUID = new RegExp(`^${GUID.source}$`, 'i');

/** Whether it is a UUID of any version: upstream and issuers of tokens are not asked how they make theirs. */
export function isGuid(value: unknown): value is string {
  return typeof value === 'string' && value.length === LENGTH && WHOLE_GUID.test(value);
}

const SPELLED = new RegExp(String.raw`^\s*(?:urn:uuid:)?\{?\s*(${GUID.source})\s*\}?\s*$`, 'i');

/** A guid in lower case, however it is spelled: with braces, as a URN, between spaces. */
export function readGuid(value: unknown): string | undefined {
  return typeof value === 'string' ? SPELLED.exec(value)?.[1]?.toLowerCase() : undefined;
}

const CAPITAL = /[A-F]/;

/** A guid in lower case: the same text, not a copy, where it is so already. */
export function lowerGuid(guid: string): string {
  return CAPITAL.test(guid) ? guid.toLowerCase() : guid;
}

/** Returns the guids in a text, as they are written there. */
export function guidsOf(text: string): string[] {
  return text.match(GUID) ?? [];
}
