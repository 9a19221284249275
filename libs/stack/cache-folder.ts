import { homedir } from 'node:os';
import { join } from 'node:path';

/** Returns the folder for downloads that all checkouts of a user share, such as the toolchain. */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'waybell');
}
