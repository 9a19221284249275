import { Command } from 'commander';
import { createLog } from '@waybell/runtime/log';
import { databaseOf } from '@waybell/stack/address-of';
import { prepareDatabase } from '@waybell/stack/prepare';
import { report } from '../print.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('create or change the tables in Postgres')
    .addHelpText(
      'after',
      '\nDATABASE_URL names the database; without it, the running stack is meant. The user becomes the owner.' +
        '\nIt logs which migration it runs, as JSON lines, and twice a minute that it still does.' +
        '\n\nExample:\n  DATABASE_URL=postgres://owner:secret@postgres/waybell ./waybell migrate\n',
    )
    .action(migrate);
}

async function migrate(): Promise<void> {
  const log = createLog({ service: 'migrate', level: 'info' });
  const applied = await prepareDatabase(databaseOf(process.env), log);
  report(applied.length === 0 ? 'nothing had to be applied' : `applied ${applied.join(', ')}`);
}
