import { join } from 'node:path';

/** Where the page lies once it is built: `./waybell up`, or `pnpm build` here, does so. */
export const builtFiles: string = join(import.meta.dirname, 'dist');
