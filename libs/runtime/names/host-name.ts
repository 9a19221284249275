/** A host without what it may have at its end: the dot that says that it is absolute, or several by mistake. */
export function withoutRootDot(host: string): string {
  return host.endsWith('.') ? host.replace(/\.+$/, '') : host;
}
