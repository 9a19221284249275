/** Returns the text as a string of its own: one cut out of another keeps the whole of that in memory. */
export function ownCopy(text: string): string {
  return Buffer.from(text).toString();
}
