import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canEnter, type User } from './programs.ts';
import type { StackFolder } from './stack-folder.ts';
import { writeRecord, type StackRecord } from './stack-record.ts';

/** Root only: one folder per stack whose own folder the user of Postgres cannot reach, such as one under /root. */
const SHARED_FOLDER = '/var/lib/waybell';

/**
 * The folder of Postgres' files: in the stack's own, or under /var/lib/waybell where `user` cannot reach that one.
 * The choice is kept in the record. Makes the folder, and clears away those of stacks that are gone.
 */
export function postgresFolder(folder: StackFolder, record: StackRecord, user: User | undefined): string {
  const near = join(folder.home, 'postgres');
  if (user === undefined) {
    mkdirSync(near, { recursive: true, mode: 0o700 });
    return near;
  }
  const path = record.postgresFolder ?? (canEnter(folder.home, user) ? near : join(SHARED_FOLDER, folder.id));
  // Without a record, the files there belong to an earlier stack of the same path: its password is lost.
  if (path !== near && record.postgresFolder === undefined) rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (path !== near) {
    forgetGoneStacks();
    chmodSync(SHARED_FOLDER, 0o711);
    writeFileSync(join(SHARED_FOLDER, `${folder.id}.home`), folder.home);
    writeRecord(folder, Object.assign(record, { postgresFolder: path }));
  }
  chownSync(path, user.uid, user.gid);
  return path;
}

/** Deletes the files of Postgres outside the stack's folder. */
export function removePostgresFolder(folder: StackFolder): void {
  rmSync(join(SHARED_FOLDER, folder.id), { recursive: true, force: true });
  rmSync(join(SHARED_FOLDER, `${folder.id}.home`), { force: true });
}

function forgetGoneStacks(): void {
  for (const name of readdirSync(SHARED_FOLDER).filter((entry) => entry.endsWith('.home'))) {
    const note = join(SHARED_FOLDER, name);
    if (existsSync(readFileSync(note, 'utf8'))) continue;
    rmSync(note.slice(0, -'.home'.length), { recursive: true, force: true });
    rmSync(note);
  }
}
