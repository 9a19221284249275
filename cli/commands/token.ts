import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { findAccount } from '@waybell/subscription-api/accounts';
import { createConsoleLink, LINK_SCOPES } from '@waybell/subscription-api/console-links';
import { createToken, listTokens, revokeToken, SCOPES, type TokenSummary } from '@waybell/subscription-api/tokens';
import { accountCalled } from '../accounts.ts';
import { addressOf } from '../client-api.ts';
import { counted } from '../in-words.ts';
import { collected, durationMs } from '../options.ts';
import { report, print } from '../print.ts';
import { withDatabase } from '../with-database.ts';

const WHERE = '\nDATABASE_URL names the database; without it, the running stack is meant.';

type CreateOptions = { account: string; client?: string; scope?: string[]; expires?: number };

type LinkOptions = {
  account: string;
  client?: string;
  write?: true;
  expires?: number;
  signedIn?: number;
  api?: string;
};

export function tokenCommand(): Command {
  return new Command('token')
    .description('create, list and revoke access tokens of accounts, and links that open the console')
    .addCommand(createCommand())
    .addCommand(linkCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand())
    .addHelpText('after', '\nExample:\n  TOKEN=$(./waybell token create --account $ACCOUNT)\n');
}

function createCommand(): Command {
  return new Command('create')
    .description('create an access token and print it, this once: only a hash of it is kept')
    .requiredOption('--account <guid>', 'the account that it acts for')
    .option('--client <name>', 'the API client; each has subscriptions of its own (default: default)')
    .option('--scope <scope>', `${SCOPES.join(', ')}; give it again for each (default: read and write)`, collected)
    .option('--expires <duration>', 'such as 12h or 90d; never when left out', durationMs)
    .addHelpText(
      'after',
      `${WHERE}\n\nExample:\n  TOKEN=$(./waybell token create --account $ACCOUNT --client tms --expires 90d)\n`,
    )
    .action(create);
}

function linkCommand(): Command {
  return new Command('link')
    .description('create a link that opens the console for a client, once, and print it')
    .requiredOption('--account <guid>', 'the account')
    .option('--client <name>', 'the API client (default: default)')
    .option('--write', 'to change what is there, too; otherwise to see it')
    .option('--expires <duration>', 'how long it can be opened, a day at most (default: 10m)', durationMs)
    .option('--signed-in <duration>', 'how long one is signed in by it, a day at most (default: 1h)', durationMs)
    .option('--api <url>', 'where clients reach the API (default: API_URL, or that of the running stack)')
    .addHelpText('after', `${WHERE}\n\nExample:\n  ./waybell token link --account $ACCOUNT --write --signed-in 8h\n`)
    .action(createLink);
}

function listCommand(): Command {
  return new Command('list')
    .description('list the tokens of an account: their guids, never the tokens themselves')
    .requiredOption('--account <guid>', 'the account')
    .addHelpText('after', `${WHERE}\n\nExample:\n  ./waybell token list --account $ACCOUNT\n`)
    .action(list);
}

function revokeCommand(): Command {
  return new Command('revoke')
    .description('end a token at once')
    .argument('<token>', 'the token, its guid, or - to read either from standard input')
    .addHelpText('after', `${WHERE}\n\nExample:\n  echo "$TOKEN" | ./waybell token revoke -\n`)
    .action(revoke);
}

async function create({ account, client, scope, expires }: CreateOptions): Promise<void> {
  const token = await withDatabase(process.env, (postgres) =>
    createToken(postgres, { accountGuid: account, clientId: client, scopes: scope, expiresInMs: expires }),
  );
  print(token);
}

async function createLink({ account, client, write, expires, signedIn, api }: LinkOptions): Promise<void> {
  const address = addressOf({ api }, process.env);
  const { path } = await withDatabase(process.env, (postgres) =>
    createConsoleLink(postgres, {
      accountGuid: account,
      clientId: client,
      scopes: write ? LINK_SCOPES : undefined,
      expiresInMs: expires,
      tokenExpiresInMs: signedIn,
    }),
  );
  print(address + path);
}

async function list({ account }: { account: string }): Promise<void> {
  const { tokens, nameOf, guid } = await withDatabase(process.env, async (postgres) => {
    const { guid: found, name } = await findAccount(postgres, account);
    return { guid: found, nameOf: () => name ?? undefined, tokens: await listTokens(postgres, found) };
  });
  const called = accountCalled(guid, nameOf);
  report(
    tokens.length === 0 ? `${called} has no tokens; make one with "./waybell token create"` : `tokens of ${called}:`,
  );
  for (const token of tokens) print(described(token));
}

async function revoke(token: string): Promise<void> {
  const named = token === '-' ? (await text(process.stdin)).trim() : token;
  const goingOn = await withDatabase(process.env, (postgres) => revokeToken(postgres, named));
  report('revoked the token');
  if (goingOn === undefined) return;
  const { account, client, subscriptions, ofAccount } = goingOn;
  const goOn = ({ count, of }: { count: number; of: string }) =>
    `it was the last one of ${of}: ${counted(count, 'subscription')} ${count === 1 ? 'goes' : 'go'} on`;
  if (ofAccount > 0)
    report(`${goOn({ count: ofAccount, of: 'the account' })}; to end all of it: ./waybell account close ${account}`);
  else report(goOn({ count: subscriptions, of: `client ${client}` }));
}

function described(token: TokenSummary): string {
  const day = (date: Date | null) => date?.toISOString() ?? 'never';
  const state = token.revoked_at === null ? `expires ${day(token.expires_at)}` : `revoked ${day(token.revoked_at)}`;
  const link = { opened: ['link'], unopened: ['link, not opened yet'], none: [] }[token.console_link ?? 'none'];
  const { guid, client_id: client, scopes } = token;
  return [guid, client, scopes.join(','), state, `last used ${day(token.last_used_at)}`, ...link].join('  ');
}
