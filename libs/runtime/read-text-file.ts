import { readFileSync } from 'node:fs';
import { codeOf } from './error-codes.ts';

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: `the user of this process (${process.getuid?.()}) may not read it`,
};

/** Reads a file in UTF-8, without a byte order mark. Throws, naming it, where it cannot be read. */
export function readTextFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    const code = codeOf(error);
    throw new Error(`"${path}" cannot be read: ${WHY[code] ?? code}`, { cause: error });
  }
}
