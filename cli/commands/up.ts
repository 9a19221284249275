import { Command } from 'commander';
import { withConstants } from '@waybell/runtime/gone-settings';
import { buildConsole } from '@waybell/stack/build-console';
import { readInherited, type Inherited } from '@waybell/stack/inherited-servers';
import { makeFolders, stackOf, type StackFolder } from '@waybell/stack/stack-folder';
import { describeStack, conditionOf } from '@waybell/stack/stack-state';
import { cleanUp, removeStack, stopStack } from '@waybell/stack/stop-stack';
import { startDetached, untilReady, supervise, acquireLock } from '@waybell/stack/supervise';
import { presentStack } from '../demo/show-demo.ts';
import { describeEnvironment } from '../describe-environment.ts';
import { report, print } from '../print.ts';

/** A stack that is to show the demo notices soon that a truck is silent. */
const TRUCK_SETTINGS = { GPS_SILENCE: '10s', GPS_SWEEP_INTERVAL: '1s' };

type UpOptions = { detach?: true; fresh?: true; demo: boolean };

export function upCommand(): Command {
  return new Command('up')
    .description('start servers and services, and keep them running until Ctrl-C')
    .option('-d, --detach', 'return once everything is ready; "./waybell down" stops it')
    .option('--fresh', 'delete the data of earlier runs first')
    .option('--no-demo', 'start without demo accounts, receivers and events')
    .addHelpText(
      'after',
      [
        '',
        'Servers are looked for in this order: AMQP_URL, DATABASE_URL and REDIS_URL; installed programs; a Docker engine;',
        'the packages of Debian or Ubuntu, installed as root or with passwordless sudo. All but the first run privately.',
        'Data, logs and secrets lie under .waybell/, or the folder that WAYBELL_HOME names; the data of containers in volumes,',
        'which "./waybell down --delete" deletes as well.',
        'The addresses that ./waybell env printed count as not set; those of another stack are refused.',
        'Settings of the services are environment variables; with the demo a truck is silent after 10 s, not after an hour.',
        'RABBITMQ_VERSION=4.0 brings that version along (as root on Debian, or by a Docker engine), in place of the one that',
        'is installed; data of another version needs --fresh.',
        '',
        'Examples:',
        '  ./waybell up',
        '  CARRIER_RETRY_DELAYS=1s,1s WAYBELL_HOME=/tmp/second ./waybell up --detach --no-demo',
      ].join('\n'),
    )
    .action(up);
}

async function up({ detach, fresh, demo }: UpOptions): Promise<void> {
  const folder = stackOf(process.env);
  // Before its secrets are deleted: by them its own addresses are known.
  const inherited = readInherited(folder, process.env);
  if (fresh) {
    await stopStack(folder, report);
    removeStack(folder);
  }
  makeFolders(folder);
  if (await isUpAlready(folder)) return;
  await reportEnvironment(inherited);
  const env = demo ? withTruckSettings(inherited.env) : inherited.env;
  if (detach) {
    await Promise.all([startDetached(folder, env, report), buildConsole(report)]);
    await presentStack(folder, { demo, staysUp: false });
    return;
  }
  if (!acquireLock(folder)) {
    await isUpAlready(folder);
    return;
  }
  const isBuilt = buildConsole(report);
  await supervise({
    folder,
    env,
    report,
    onReady: () => void isBuilt.then(() => presentStack(folder, { demo, staysUp: true })),
  });
}

/** Names the settings that are used although this command did not set them: they would surprise. */
async function reportEnvironment(inherited: Inherited): Promise<void> {
  const { settingNames: settings } = await import('../settings.ts');
  for (const line of describeEnvironment({ settings, ...inherited })) report(line);
}

/** Says so when the stack runs, waiting for it while it starts. Cleans up after a supervisor that was killed. */
async function isUpAlready(folder: StackFolder): Promise<boolean> {
  const condition = conditionOf(folder);
  if (condition.kind === 'abandoned') await cleanUp(folder, condition.state, report);
  if (condition.kind !== 'running') return false;
  report(`it is already up in ${folder.home} (supervisor ${condition.state.supervisor.pid})`);
  await untilReady(folder, report);
  print(...describeStack(folder).split('\n'));
  return true;
}

/** The environment of such a stack. */
function withTruckSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...withConstants(TRUCK_SETTINGS), ...env };
}
