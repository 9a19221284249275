/** Whether a release, such as 0.10.0, comes after the other. */
export function isLater(release: string, than: string): boolean {
  const [ours, theirs] = [partsOf(than), partsOf(release)];
  const differing = theirs.findIndex((part, place) => part !== ours[place]);
  return differing !== -1 && (theirs[differing] ?? 0) > (ours[differing] ?? 0);
}

/**
 * Whether a version lies between them: a release runs beside the previous version, and reads only that one's formats, none older.
 */
export function isBeyondNext(release: string, from: string): boolean {
  const [[major = 0, minor = 0], [fromMajor = 0, fromMinor = 0]] = [partsOf(release), partsOf(from)];
  return major === fromMajor ? minor > fromMinor + 1 : major > fromMajor + 1 || (major > fromMajor && minor > 0);
}

const partsOf = (release: string): number[] => release.split('.').map(Number);
