import { join } from 'node:path';

/** The folder of the built page, which `./waybell up` or `pnpm build` makes. */
export const builtFiles: string = join(import.meta.dirname, 'dist');
