const MAX_LENGTH = 200;

/** The JSON pointer (RFC 6901) of a place, fit for a log line: cut at 200 characters, nothing unprintable in it. */
export function pointer(path: readonly (string | number)[]): string {
  return printable(path.map((segment) => pointerTo(String(segment))).join(''));
}

/** The segment of a pointer that leads to a member. */
export function pointerTo(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

export function printable(text: string): string {
  const short = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  // Quoting escapes control characters and lone surrogates.
  return JSON.stringify(short)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll('\x7f', String.raw`\u007f`);
}
