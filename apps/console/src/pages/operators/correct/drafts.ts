/**
 * Texts typed by the user, by the id of the corrected message: they survive leaving the page and the end of a session, but no
 * reload.
 */
const drafts = new Map<string, string>();

export const draftOf = (id: string): string | undefined => drafts.get(id);

export function keepDraft(id: string, text: string): void {
  drafts.set(id, text);
}

export function forgetDraft(id: string): void {
  drafts.delete(id);
}
