import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The file of that name in the first of the folders that has one which may be run. */
export function firstExecutable(name: string, folders: string[]): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The folders of the environment's PATH. */
export const foldersOnPath = (): string[] =>
  (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
