import { Command } from 'commander';
import { readEnvironment, str } from '@waybell/runtime/environment';
import { readKeyRing } from '@waybell/runtime/secrets';
import { stackOf } from '@waybell/stack/stack-folder';
import { readRecord } from '@waybell/stack/stack-record';
import { requireRunning } from '@waybell/stack/stack-state';
import {
  replaceSecrets,
  rotateSecrets,
  type LostCredentials,
  type SecretsRotation,
} from '@waybell/subscription-api/sealed-rows';
import { report, print } from '../print.ts';
import { withDatabase } from '../with-database.ts';

export function secretsCommand(): Command {
  return new Command('secrets')
    .description('change the key that secrets at rest are encrypted with, or replace secrets whose key is lost')
    .addCommand(rotateCommand())
    .addCommand(replaceCommand())
    .addHelpText('after', '\nExample:\n  ./waybell secrets rotate\n');
}

function rotateCommand(): Command {
  return new Command('rotate')
    .description('encrypt every secret again, under the first key of SECRET_KEYS, and show which keys are still in use')
    .addHelpText(
      'after',
      '\nEverything may run meanwhile. It may be stopped and started again. Prints each key and how many secrets it holds;' +
        '\nexits with 1 while an older key holds any. Step by step: docs/operating/securing.md.' +
        '\n\nDATABASE_URL names the database and SECRET_KEYS the keys; without them, the running stack is meant.' +
        '\n\nExample:\n  SECRET_KEYS_FILE=/run/secrets/keys DATABASE_URL_FILE=/run/secrets/database ./waybell secrets rotate\n',
    )
    .action(rotate);
}

function replaceCommand(): Command {
  return new Command('replace')
    .description('make new secrets in the place of those that no key of SECRET_KEYS opens, and list whose they are')
    .option('--yes', 'really make them; without it they are only listed')
    .addHelpText(
      'after',
      '\nFor a key that is lost for good, or a token that somebody overwrote. What was sealed is gone: the clients that are' +
        '\nlisted have to give their receivers the new verification token (the list of their subscriptions) or signing secret' +
        '\n(GET /v1/signing-secrets). What waits for them is then sent with the new ones. A key that is only missing: put it back instead.' +
        '\nCredentials for a host cannot be replaced here: their clients, which are listed too, have to put them in again' +
        '\n(PUT /v1/credentials/{host}). Until then they stay as they are, and what is due to that host waits.' +
        '\n\nDATABASE_URL and SECRET_KEYS as for rotate.\n\nExample:\n  ./waybell secrets replace --yes\n',
    )
    .action(replace);
}

async function replace({ yes }: { yes?: true }): Promise<void> {
  const keyRing = readKeyRing(secretKeys(process.env));
  const { replaced, left, lost } = await withDatabase(process.env, async (postgres) => {
    // All of them or none: none is replaced that is not listed.
    await postgres.query('begin');
    const found = await replaceSecrets(postgres, { keyRing });
    await postgres.query(yes ? 'commit' : 'rollback');
    return found;
  });
  for (const { what, account_guid: account, client_id: client, action } of replaced.filter((each) => each.isCurrent))
    print(`${account}  ${client}  ${what === 'subscription' ? `verification token of ${action}` : 'signing secret'}`);
  explainLost(lost);
  if (left > 0) {
    report(`${secrets(left)} that no key opens, being changed by somebody else: left. Run this again`);
    process.exitCode = 1;
  }
  if (replaced.length + left + lost.length === 0) return report('every secret opens');
  if (replaced.length === 0) return;
  if (!yes) throw new Error(`${secrets(replaced.length)} would be replaced: add --yes to do it`);
  report(
    `replaced ${secrets(replaced.length)}, those of ended subscriptions included: tell the clients that are listed`,
  );
}

function explainLost(lost: readonly LostCredentials[]): void {
  for (const { account_guid: account, client_id: client, host } of lost)
    print(`${account}  ${client}  credentials for ${host}`);
  if (lost.length > 0)
    report(
      `no key opens ${lost.length} of the credentials that clients put in: they have to put them in again (PUT /v1/credentials/{host})`,
    );
}

async function rotate(): Promise<void> {
  const keyRing = readKeyRing(secretKeys(process.env));
  const rotation = await withDatabase(process.env, (postgres) => rotateSecrets(postgres, { keyRing }));
  const [newest, ...older] = keyRing.keyIds;
  report(`encrypted ${secrets(rotation.rotated)} under key "${newest}"`);
  for (const guid of rotation.unopened)
    report(`the secret of ${guid} does not open with its key: it was left as it is`);
  for (const [id, count] of rotation.inUse) print(`${id}  ${secrets(count)}`);
  explainKeys(rotation, { newest, older });
}

function explainKeys({ inUse }: SecretsRotation, { newest, older }: { newest: string; older: string[] }): void {
  const free = older.filter((id) => inUse.get(id) === 0);
  if (free.length > 0) report(`no longer in use, and may leave SECRET_KEYS: ${free.join(', ')}`);
  const kept = [...inUse].filter(([id, count]) => id !== newest && count > 0).map(([id]) => id);
  if (kept.length === 0) return;
  const missing = kept.filter((id) => !older.includes(id));
  if (missing.length > 0)
    report(
      `SECRET_KEYS lacks the key ${missing.map((id) => `"${id}"`).join(', ')}: put it back at the end, and run this again`,
    );
  else report(`still in use: ${kept.join(', ')}. Restart the services that have another key first, and run this again`);
  process.exitCode = 1;
}

function secretKeys(env: NodeJS.ProcessEnv): string {
  const { SECRET_KEYS, DATABASE_URL } = readEnvironment({ SECRET_KEYS: optional, DATABASE_URL: optional }, env);
  if (SECRET_KEYS !== '') return SECRET_KEYS;
  if (DATABASE_URL !== '') throw new Error('SECRET_KEYS is not set: give the keys that the services have');
  const folder = stackOf(env);
  requireRunning(folder);
  return readRecord(folder).secretKeys;
}

const optional = str({ default: '' });

const secrets = (count: number): string => `${count} ${count === 1 ? 'secret' : 'secrets'}`;
