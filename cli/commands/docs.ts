import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { makeGenerated } from '../docs/make-generated.ts';
import { report } from '../print.ts';

export function docsCommand(): Command {
  return new Command('docs')
    .description('write the pages that are made from the code, and the code that git does not keep')
    .option('--code', 'only that code, where it is not up to date')
    .addHelpText(
      'after',
      '\nThe tests fail while a page is not as the code would write it.\n\nExample:\n  ./waybell docs\n',
    )
    .action(docs);
}

async function docs({ code }: { code?: boolean }): Promise<void> {
  await makeGenerated();
  if (!code) await writePages();
}

async function writePages(): Promise<void> {
  const { pages } = await import('../docs/pages.ts');
  for (const [path, page] of Object.entries(pages)) {
    const file = join(import.meta.dirname, '../..', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, await page());
    report(`wrote ${path}`);
  }
}
