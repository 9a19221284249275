import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts';
import type { StackFolder } from './stack-folder.ts';

/** Makes this process the only supervisor of the stack. False when another one lives. */
export function takeLock({ lockFile }: StackFolder): boolean {
  for (let tries = 0; tries < 5; tries += 1) {
    try {
      writeFileSync(lockFile, JSON.stringify(identify(process.pid)), { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      if (isAlive(holderOf(lockFile))) return false;
      setAside(lockFile);
    }
  }
  return false;
}

function holderOf(lockFile: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')) as ProcessIdentity;
  } catch {
    // Gone, or its writer died while writing.
    return undefined;
  }
}

/** Only one of several that find a dead holder's lock can move it away. */
function setAside(lockFile: string): void {
  const aside = `${lockFile}.${process.pid}`;
  try {
    renameSync(lockFile, aside);
    rmSync(aside);
  } catch {
    // Another one was quicker.
  }
}
