import { Command } from 'commander';
import { hostNamed } from '@waybell/subscription-api/callback-url';
import {
  listStops,
  startHost,
  startSubscription,
  stopHost,
  stopSubscription,
  type StoppedHost,
} from '@waybell/subscription-api/stops';
import type { SubscriptionEntry } from '@waybell/delivery-log/read/subscriptions';
import { stopRequest } from '@waybell/contracts/openapi/admin-stop-paths';
import { inTransaction } from '@waybell/runtime/postgres';
import { schemaFaults } from '@waybell/subscription-api/rest/http/request-schema';
import { accountCalled, namesOf, type NameOf } from '../account-called.ts';
import { counted } from '../amounts.ts';
import { print } from '../print.ts';
import { report } from '../report.ts';
import { readGuid } from '../why/read-guid.ts';
import { withDatabase } from '../with-database.ts';

const SERVER = 'DATABASE_URL names the database; without it, the running stack is meant.\n';
const REASON = ['--reason <text>', 'why, for its client and the audit log'] as const;

export function stopCommand(): Command {
  return new Command('stop')
    .description('have the deliveries of a subscription wait, as an operator: its client sees that, and cannot end it')
    .argument('<guid>', 'the subscription')
    .requiredOption(...REASON)
    .addHelpText(
      'after',
      `\nSubscribed anew, it is still stopped. What grows too old meanwhile expires. "./waybell host list" shows all that is stopped.\n${SERVER}`,
    )
    .action(stop);
}

export function startCommand(): Command {
  return new Command('start')
    .description('have a stopped subscription go on, as an operator')
    .argument('<guid>', 'the subscription')
    .addHelpText('after', `\nWhat waits is sent now.\n${SERVER}`)
    .action(start);
}

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

async function stop(text: string, { reason }: { reason: string }): Promise<void> {
  const guid = readGuid(text, '<guid>');
  const asked = { guid, reason: readReason(reason) };
  await withDatabase(process.env, async (postgres) => {
    const entry = await inTransaction(postgres, (client) => stopSubscription(client, asked));
    report(`stopped ${describe(entry, await namesOf(postgres, [entry.account]))}`);
  });
}

async function start(text: string): Promise<void> {
  const guid = readGuid(text, '<guid>');
  await withDatabase(process.env, async (postgres) => {
    const entry = await inTransaction(postgres, (client) => startSubscription(client, guid));
    report(`started ${describe(entry, await namesOf(postgres, [entry.account]))}`);
  });
}

async function stopOne(text: string, { reason }: { reason: string }): Promise<void> {
  const asked = { host: readHost(text), reason: readReason(reason) };
  const stopped = await withDatabase(process.env, (postgres) => stopHost(postgres, asked));
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
    for (const each of subscriptions) print(`${new Date(each.stop?.at ?? 0).toISOString()}  ${describe(each, nameOf)}`);
    if (hosts.length + subscriptions.length === 0) report('nothing is stopped');
  });
}

function describe(
  { subscription, account, client, action, url, endedAt, stop: stopped }: SubscriptionEntry,
  nameOf: NameOf,
) {
  const of = [`subscription ${subscription}`, accountCalled(account, nameOf), `client ${client}`, action, url];
  return [...of, endedAt === null ? '' : 'ended', stopped?.reason ?? ''].filter(Boolean).join('  ');
}

const describeHost = ({ host, reason, subscriptions }: StoppedHost): string =>
  `host ${host}  ${counted(subscriptions, 'subscription')}  ${reason}`;

const faultsOfStop = schemaFaults(stopRequest);

function readReason(reason: string): string {
  const [fault] = faultsOfStop({ reason });
  if (fault !== undefined) throw new Error(`--reason ${fault.detail}`);
  return reason;
}

function readHost(text: string): string {
  const host = hostNamed(text);
  if (host === undefined)
    throw new Error(`"${text}" names no host: give one such as receiver.example.com, without a port`);
  return host;
}
