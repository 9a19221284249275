import { Command } from 'commander';
import { accountCommand } from './commands/account.ts';
import { advisoriesCommand } from './commands/advisories.ts';
import { auditCommand } from './commands/audit.ts';
import { benchCommand } from './commands/bench.ts';
import { checkCommand } from './commands/check.ts';
import { declareCommand } from './commands/declare.ts';
import { docsCommand } from './commands/docs.ts';
import { downCommand } from './commands/down.ts';
import { envCommand } from './commands/env.ts';
import { failingCommand } from './commands/failing.ts';
import { forgetCommand } from './commands/forget.ts';
import { listenCommand } from './commands/listen.ts';
import { logsCommand } from './commands/logs.ts';
import { migrateCommand } from './commands/migrate.ts';
import { parkedCommand } from './commands/parked.ts';
import { permissionsCommand } from './commands/permissions.ts';
import { publishCommand } from './commands/publish.ts';
import { rejectedCommand } from './commands/rejected.ts';
import { releaseNotesCommand } from './commands/release-notes.ts';
import { sbomCommand } from './commands/sbom.ts';
import { secretsCommand } from './commands/secrets.ts';
import { statusCommand } from './commands/status.ts';
import { superviseCommand } from './commands/supervise.ts';
import { testCommand } from './commands/test.ts';
import { tokenCommand } from './commands/token.ts';
import { triggerCommand } from './commands/trigger.ts';
import { upCommand } from './commands/up.ts';
import { whyCommand } from './commands/why.ts';
import { report } from './report.ts';
import { print } from './print.ts';
import { versionHere } from './version.ts';
import { explainFailure } from '@waybell/stack/explain-failure';

const program = new Command('waybell')
  .description('Webhook notifications for freight platforms.')
  .option('--version', 'print the version, and the commit of this checkout')
  .on('option:version', () => {
    print(versionHere());
    process.exit();
  })
  .showHelpAfterError('Add --help to see what the command takes.')
  .addHelpText('after', '\nExample:\n  ./waybell up        start everything and watch events become callbacks\n');

for (const command of [upCommand, downCommand, statusCommand, envCommand, logsCommand]) program.addCommand(command());
for (const command of [
  accountCommand,
  tokenCommand,
  secretsCommand,
  auditCommand,
  publishCommand,
  rejectedCommand,
  parkedCommand,
  whyCommand,
  failingCommand,
  forgetCommand,
])
  program.addCommand(command());
for (const command of [listenCommand, triggerCommand]) program.addCommand(command());
for (const command of [declareCommand, permissionsCommand, migrateCommand]) program.addCommand(command());
for (const command of [
  testCommand,
  benchCommand,
  checkCommand,
  docsCommand,
  advisoriesCommand,
  sbomCommand,
  releaseNotesCommand,
])
  program.addCommand(command());
program.addCommand(superviseCommand(), { hidden: true });

// The reader may stop reading: `./waybell logs | head`.
process.stdout.on('error', () => process.exit());
// A terminal that is gone must not keep `up` from stopping what it started.
process.stderr.on('error', () => undefined);

try {
  await program.parseAsync();
} catch (error) {
  report(explainFailure(error));
  if (process.env['LOG_LEVEL'] === 'debug') console.error(error);
  process.exitCode = 1;
}
// The last output may still wait for a slow reader: ending would drop it.
for (const stream of [process.stdout, process.stderr]) {
  await new Promise((resolve) => {
    stream.write('', resolve);
  });
}
// A command that failed half-way may have left a connection that would hold the process for seconds.
process.exit();
