import { Command } from 'commander';
import { hostNamed } from '@waybell/subscription-api/callback-url';
import { listStops, startHost, stopHost, type StoppedHost } from '@waybell/subscription-api/stops';
import { namesOf } from '../accounts.ts';
import { counted } from '../in-words.ts';
import { print, report } from '../print.ts';
import { describeStopped, readReason, REASON, SERVER } from '../subscription/stop-commands.ts';
import { withDatabase } from '../with-database.ts';

export function hostCommand(): Command {
  return new Command('host')
    .description('have all callbacks to a host wait, whichever accounts they are of')
    .addCommand(
      new Command('stop')
        .description('have them wait, until it is started')
        .argument('<host>', 'such as receiver.example.com, without a port')
        .requiredOption(...REASON)
        .addHelpText('after', `\nClients see that, and why. What grows too old meanwhile expires.\n${SERVER}`)
        .action(stopOne),
    )
    .addCommand(
      new Command('start')
        .description('have them go on')
        .argument('<host>', 'a stopped host')
        .addHelpText('after', `\nWhat waits is sent now.\n${SERVER}`)
        .action(startOne),
    )
    .addCommand(
      new Command('list')
        .description('list the hosts, and the subscriptions, that are stopped')
        .addHelpText('after', `\n${SERVER}`)
        .action(list),
    )
    .addHelpText('after', '\nExample:\n  ./waybell host stop receiver.example.com --reason "asked by its operator"\n');
}

async function stopOne(text: string, { reason }: { reason: string }): Promise<void> {
  const request = { host: readHost(text), reason: readReason(reason) };
  const stopped = await withDatabase(process.env, (postgres) => stopHost(postgres, request));
  report(`stopped ${describeHost(stopped)}`);
}

async function startOne(text: string): Promise<void> {
  const host = readHost(text);
  await withDatabase(process.env, (postgres) => startHost(postgres, host));
  report(`started host ${host}`);
}

async function list(): Promise<void> {
  await withDatabase(process.env, async (postgres) => {
    const { subscriptions, hosts } = await listStops(postgres);
    const nameOf = await namesOf(
      postgres,
      subscriptions.map(({ account }) => account),
    );
    for (const each of hosts) print(`${new Date(each.at).toISOString()}  ${describeHost(each)}`);
    for (const each of subscriptions)
      print(`${new Date(each.stop?.at ?? 0).toISOString()}  ${describeStopped(each, nameOf)}`);
    if (hosts.length + subscriptions.length === 0) report('nothing is stopped');
  });
}

const describeHost = ({ host, reason, subscriptions }: StoppedHost): string =>
  `host ${host}  ${counted(subscriptions, 'subscription')}  ${reason}`;

function readHost(text: string): string {
  const host = hostNamed(text);
  if (host === undefined)
    throw new Error(`"${text}" names no host: give one such as receiver.example.com, without a port`);
  return host;
}
