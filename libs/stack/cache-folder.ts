import { homedir } from 'node:os';
import { join } from 'node:path';

/** For what is fetched once and shared by all checkouts of a user, as the toolchain is. */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'waybell');
}
