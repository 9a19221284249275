import { Command } from 'commander';
import { explainFailure } from '@waybell/stack/supervised-process';
import { report, print } from './print.ts';
import { versionHere } from './version.ts';

/** Each command by its name, in the order in which help lists them. Loading all of them takes longer than what most do. */
const commands: Record<string, () => Promise<Command>> = {
  up: async () => (await import('./commands/up.ts')).upCommand(),
  down: async () => (await import('./commands/down.ts')).downCommand(),
  status: async () => (await import('./commands/status.ts')).statusCommand(),
  env: async () => (await import('./commands/env.ts')).envCommand(),
  logs: async () => (await import('./commands/logs.ts')).logsCommand(),
  account: async () => (await import('./commands/account.ts')).accountCommand(),
  token: async () => (await import('./commands/token.ts')).tokenCommand(),
  subscription: async () => (await import('./commands/subscription.ts')).subscriptionCommand(),
  credentials: async () => (await import('./commands/credentials.ts')).credentialsCommand(),
  host: async () => (await import('./commands/host.ts')).hostCommand(),
  secrets: async () => (await import('./commands/secrets.ts')).secretsCommand(),
  audit: async () => (await import('./commands/audit.ts')).auditCommand(),
  publish: async () => (await import('./commands/publish.ts')).publishCommand(),
  rejected: async () => (await import('./commands/rejected.ts')).rejectedCommand(),
  waiting: async () => (await import('./commands/waiting.ts')).waitingCommand(),
  deactivations: async () => (await import('./commands/deactivations.ts')).deactivationsCommand(),
  why: async () => (await import('./commands/why.ts')).whyCommand(),
  missed: async () => (await import('./commands/missed.ts')).missedCommand(),
  failing: async () => (await import('./commands/failing.ts')).failingCommand(),
  forget: async () => (await import('./commands/forget.ts')).forgetCommand(),
  listen: async () => (await import('./commands/listen.ts')).listenCommand(),
  trigger: async () => (await import('./commands/trigger.ts')).triggerCommand(),
  declare: async () => (await import('./commands/declare.ts')).declareCommand(),
  permissions: async () => (await import('./commands/permissions.ts')).permissionsCommand(),
  migrate: async () => (await import('./commands/migrate.ts')).migrateCommand(),
  test: async () => (await import('./commands/test.ts')).testCommand(),
  bench: async () => (await import('./commands/bench.ts')).benchCommand(),
  check: async () => (await import('./commands/check.ts')).checkCommand(),
  docs: async () => (await import('./commands/docs.ts')).docsCommand(),
  advisories: async () => (await import('./commands/advisories.ts')).advisoriesCommand(),
  roots: async () => (await import('./commands/roots.ts')).rootsCommand(),
  sbom: async () => (await import('./commands/sbom.ts')).sbomCommand(),
  'release-notes': async () => (await import('./commands/release-notes.ts')).releaseNotesCommand(),
  supervise: async () => (await import('./commands/supervise.ts')).superviseCommand(),
};

const program = new Command('waybell')
  .description('Webhook notifications for freight platforms.')
  .option('--version', 'print the version, and the commit of this checkout')
  .on('option:version', () => {
    print(versionHere());
    process.exit();
  })
  .showHelpAfterError('Add --help to see what the command takes.')
  .addHelpText('after', '\nExample:\n  ./waybell up        start everything and watch events become callbacks\n');

const [wanted = ''] = process.argv.slice(2);
for (const [name, load] of Object.entries(commands)) {
  const isNeeded = name === wanted || !Object.hasOwn(commands, wanted);
  if (isNeeded) program.addCommand(await load(), { hidden: name === 'supervise' });
}

// Node has read the proxies of the environment then, and would use them for this machine's own addresses.
if (process.env['NODE_USE_ENV_PROXY'] === '1') (await import('./http/use-proxy.ts')).useProxy(process.env, []);

// The reader may stop reading: `./waybell logs | head`.
process.stdout.on('error', () => process.exit());
// A terminal that is gone must not keep `up` from stopping its processes.
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
