/** Writes a release's formats, and its objects in the servers, as files of this folder. */
import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { topologyOf } from '@waybell/stack/prepare';
import { repository } from '@waybell/stack/stack-folder';
import type { Topology } from '@waybell/line/topology';
import { formats } from './formats.ts';

export type Release = {
  /** The written texts, by the name of the format. */
  written: Record<string, string>;
  topology: Topology;
  /** A hash of each migration, by the name of its file. */
  migrations: Record<string, string>;
};

export const fileOf = (version: string): string => join(import.meta.dirname, `${version}.json`);

/** The versions that are written down here. */
export const releasesHere = (): string[] =>
  globSync('*.json', { cwd: import.meta.dirname }).map((file) => basename(file, '.json'));

/** The release that is the one before what is here, and so the one that must be read. */
export function lastRelease(): Release & { version: string } {
  const [version, ...others] = releasesHere();
  if (version === undefined || others.length > 0)
    throw new Error('one release is to be here, the last: node tests/versions/freeze.ts');
  return { version, ...(JSON.parse(readFileSync(fileOf(version), 'utf8')) as Release) };
}

export function asOfNow(): Release {
  return {
    written: Object.fromEntries(formats.map(({ name, write }) => [name, write()])),
    topology: topologyOf({}),
    migrations: migrationsHere(),
  };
}

export function migrationsHere(): Record<string, string> {
  const folder = join(repository, 'services/subscription-api/migrations');
  const files = globSync('[0-9]*.ts', { cwd: folder }).toSorted();
  return Object.fromEntries(files.map((file) => [file, hash('sha256', readFileSync(join(folder, file)))]));
}
