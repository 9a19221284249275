import { Command } from 'commander';
import type { SubscriptionEntry } from '@waybell/delivery-log/read/subscriptions';
import { inTransaction } from '@waybell/runtime/postgres';
import { schemaFaults } from '@waybell/subscription-api/rest/http/request-schema';
import { nodeOf } from '@waybell/subscription-api/operations/schema';
import { startSubscription, stopRequest, stopSubscription } from '@waybell/subscription-api/stops';
import { accountCalled, namesOf, type NameOfAccount } from '../accounts.ts';
import { readGuid } from '../options.ts';
import { report } from '../print.ts';
import { withDatabase } from '../with-database.ts';

/** Ends the help of commands for operators. */
export const SERVER = 'DATABASE_URL names the database; without it, the running stack is meant.\n';
/** The option that says why, as commander takes it. */
export const REASON = ['--reason <text>', 'why, for its client and the audit log'] as const;

export function stopCommand(): Command {
  return new Command('stop')
    .description('have the deliveries of a subscription wait, as an operator: its client sees that, and cannot end it')
    .argument('<guid>', 'the subscription')
    .requiredOption(...REASON)
    .addHelpText(
      'after',
      `\nA new subscription is still stopped. What grows too old meanwhile expires. "./waybell host list" shows all that is stopped.\n${SERVER}`,
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

async function stop(text: string, { reason }: { reason: string }): Promise<void> {
  const guid = readGuid(text, '<guid>');
  const request = { guid, reason: readReason(reason) };
  await withDatabase(process.env, async (postgres) => {
    const entry = await inTransaction(postgres, (client) => stopSubscription(client, request));
    report(`stopped ${describeStopped(entry, await namesOf(postgres, [entry.account]))}`);
  });
}

async function start(text: string): Promise<void> {
  const guid = readGuid(text, '<guid>');
  await withDatabase(process.env, async (postgres) => {
    const entry = await inTransaction(postgres, (client) => startSubscription(client, guid));
    report(`started ${describeStopped(entry, await namesOf(postgres, [entry.account]))}`);
  });
}

/** On one line. */
export function describeStopped(
  { subscription, account, client, action, url, endedAt, stop: stopped }: SubscriptionEntry,
  nameOf: NameOfAccount,
) {
  const of = [`subscription ${subscription}`, accountCalled(account, nameOf), `client ${client}`, action, url];
  return [...of, endedAt === null ? '' : 'ended', stopped?.reason ?? ''].filter(Boolean).join('  ');
}

const faultsOfStop = schemaFaults(nodeOf(stopRequest));

/** Throws where it is none. */
export function readReason(reason: string): string {
  const [fault] = faultsOfStop({ reason });
  if (fault !== undefined) throw new Error(`--reason ${fault.detail}`);
  return reason;
}
