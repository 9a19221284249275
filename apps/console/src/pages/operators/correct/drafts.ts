/** What somebody has typed, by the id of what it corrects: it outlives the page, and a session that ends. Not a reload. */
const drafts = new Map<string, string>();

export const draftOf = (id: string): string | undefined => drafts.get(id);

export function keepDraft(id: string, text: string): void {
  drafts.set(id, text);
}

export function forgetDraft(id: string): void {
  drafts.delete(id);
}
