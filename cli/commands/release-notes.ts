import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { repository } from '@waybell/stack/stack-folder';
import { print } from '../print.ts';
import { versionNotes } from '../release/version-notes.ts';
import manifest from '../package.json' with { type: 'json' };

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
