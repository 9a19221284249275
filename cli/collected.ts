/** For options that can be given again and again: all that was given. */
export function collected(value: string, before: string[] = []): string[] {
  return [...before, value];
}
