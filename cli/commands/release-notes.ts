import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { repository } from '@waybell/stack/stack-folder';
import manifest from '../package.json' with { type: 'json' };
import { print } from '../print.ts';

/** The heading of a version in a changelog: `## [0.2.0] - 2026-11-25`. */
const HEADING = /^## \[([^\]]+)\](.*)$/;
const DATE = /^ - \d{4}-\d{2}-\d{2}$/;
/** Matches a link to a file of the repository: it works only next to that file. */
const RELATIVE_LINK = /\]\((?!https?:|#)/g;

type Changelog = {
  text: string;
  /** Put in front of links to files, such as `https://example.com/waybell/blob/v0.2.0/`. */
  linksAt: string;
};

export function releaseNotesCommand(): Command {
  return new Command('release-notes')
    .description('print what CHANGELOG.md says of the version that is tagged so')
    .argument('<tag>', 'such as v0.2.0; fails unless it is the version of this checkout')
    .option('--links-at <address>', 'put in front of links to files', '')
    .addHelpText('after', '\nExample:\n  ./waybell release-notes v0.2.0\n')
    .action(releaseNotes);
}

function releaseNotes(tag: string, { linksAt }: { linksAt: string }): void {
  if (tag !== `v${manifest.version}`)
    throw new Error(`the version of this checkout is ${manifest.version}, not ${tag}`);
  const text = readFileSync(join(repository, 'CHANGELOG.md'), 'utf8');
  print(...versionNotes({ text, linksAt }, manifest.version).split('\n'));
}

/** Returns the changelog's section of that version, without its heading. Throws if it is missing or has no date. */
export function versionNotes({ text, linksAt }: Changelog, version: string): string {
  const lines = text.split('\n');
  const begin = lines.findIndex((line) => HEADING.exec(line)?.[1] === version);
  const date = HEADING.exec(lines[begin] ?? '')?.[2] ?? '';
  const rest = begin === -1 ? [] : lines.slice(begin + 1);
  const end = rest.findIndex((line) => HEADING.test(line));
  const notes = rest
    .slice(0, end === -1 ? rest.length : end)
    .join('\n')
    .trim();
  if (notes === '') throw new Error(`CHANGELOG.md says nothing of ${version}`);
  if (!DATE.test(date))
    throw new Error(`CHANGELOG.md says of ${version} "${date}", where the date of its release is to stand`);
  return notes.replaceAll(RELATIVE_LINK, `](${linksAt}`);
}
