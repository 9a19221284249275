import { repository } from '@waybell/stack/stack-folder';
import { makeFiles, type Generated } from './make-files.ts';

/** The code that is made instead of kept in git, by its path in the repository. */
export async function generated(): Promise<Record<string, Generated>> {
  const { consoleTypes } = await import('./console-types.ts');
  const { packageTypes } = await import('./package-types.ts');
  return { ...consoleTypes(), ...packageTypes() };
}

/** Makes that code where it is missing or not up to date. */
export async function makeGenerated(): Promise<void> {
  try {
    await makeFiles(repository, await generated());
  } catch (error) {
    // A fault of syntax says in its stack alone where it is.
    const reason = error instanceof Error ? (error.stack ?? '').split(/\n {4}at /)[0] : String(error);
    throw new Error(
      `cannot make code from libs/catalog and libs/contracts: ${reason}\nIf packages are missing: pnpm install. ` +
        'Else correct what it names, then ./waybell docs --code',
      { cause: error },
    );
  }
}
