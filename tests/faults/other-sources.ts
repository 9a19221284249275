import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '@waybell/stack/stack-folder';
import { isLater } from '@waybell/subscription-api/migrate';

/** A text of one file, which stands there once, and what is to stand there instead. */
export type Edit = { file: string; from: string; to: string };

const run = promisify(execFile);
const git = (...args: string[]): string =>
  execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' }).trim();

/** The first release that neighbours run beside: those before it write other formats. */
const FIRST = '0.3.0';

/**
 * The release before what is here: what `WAYBELL_BEFORE` names, else the newest tag from v0.3.0 on, but for one of this very commit while
 * there are others, else the commit that froze what a release writes. Throws, saying what to do.
 */
export function lastRelease(): string {
  const asked = process.env['WAYBELL_BEFORE'];
  try {
    if (asked) return git('rev-parse', '--verify', `${asked}^{commit}`);
    const tags = releasesAmong(git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname').split('\n'));
    const [newest] = [...tags.filter((tag) => git('rev-list', '-1', tag) !== git('rev-parse', 'HEAD')), ...tags];
    const found = newest ?? git('log', '-1', '--format=%H', '--', 'tests/versions/*.json');
    if (found !== '') return git('rev-parse', '--verify', `${found}^{commit}`);
  } catch (error) {
    throw new Error(NONE, { cause: error });
  }
  throw new Error(NONE);
}

/** Returns the tags of releases that may run beside the one after them. */
export const releasesAmong = (tags: readonly string[]): string[] =>
  tags.filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag) && !isLater(FIRST, tag.slice(1)));

const NONE =
  'there is no release to run beside this version: name one by WAYBELL_BEFORE=<tag or commit>, in a checkout of git that has it (git fetch --tags)';

/** The sources of a commit, changed so, with their packages, in a folder of their own until this process ends. */
export async function sourcesOf(commit: string, edits: readonly Edit[] = []): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'waybell-other-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await run('sh', [
    '-ec',
    'git -C "$1" archive "$2" >"$3/all.tar"; tar -x -C "$3" -f "$3/all.tar"; rm "$3/all.tar"',
    'sh',
    repository,
    commit,
    folder,
  ]);
  for (const edit of edits) change(folder, edit);
  const install = ['install', '--frozen-lockfile', '--prefer-offline', '--prod'];
  await run('pnpm', install, { cwd: folder, env: { ...process.env, CI: 'true' }, maxBuffer: 2 ** 26 });
  return folder;
}

function change(folder: string, edit: Edit): void {
  const path = join(folder, edit.file);
  writeFileSync(path, edited(readFileSync(path, 'utf8'), edit));
}

/** The source with that change in it. Throws where it does not apply exactly once. */
export function edited(source: string, { file, from, to }: Edit): string {
  const [before, after, ...more] = source.split(from);
  if (after === undefined || more.length > 0) throw new Error(`${file} does not have this once, to change it: ${from}`);
  return `${before}${to}${after}`;
}
