import { Command } from 'commander';
import { createAccount, listAccounts, updateAccount, type AccountSummary } from '@waybell/subscription-api/accounts';
import { closeAccount, openAccount, type AccountClosing } from '@waybell/subscription-api/close-account';
import { accountCalled, findAccountCalled } from '../accounts.ts';
import { collected } from '../options.ts';
import { report, print } from '../print.ts';
import { withDatabase } from '../with-database.ts';

const WHERE = '\nDATABASE_URL names the database; without it, the running stack is meant.';

type AccountArguments = { guid: string; name?: string; addFeature?: string[]; removeFeature?: string[] };

export function accountCommand(): Command {
  return new Command('account')
    .description('create, list, name and close accounts, and switch their features on and off')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(updateCommand())
    .addCommand(closeCommand())
    .addCommand(openCommand())
    .addHelpText('after', '\nExample:\n  ./waybell account create --interface carrier\n');
}

function createCommand(): Command {
  return new Command('create')
    .description('create an account and print its guid; a broker is an account on the shipper interface')
    .requiredOption('--interface <interface>', 'shipper or carrier')
    .option('--guid <guid>', 'the guid that events name it by; a new one when left out')
    .option('--name <name>', 'what people call it, such as "Acme": shown beside its guid')
    .option('--feature <feature>', 'insurance or servicepay; give it again for each', collected)
    .addHelpText(
      'after',
      `${WHERE}\n\nExample:\n  ACCOUNT=$(./waybell account create --interface shipper --name Acme --feature insurance)\n`,
    )
    .action(create);
}

function listCommand(): Command {
  return new Command('list')
    .description('list all accounts: guid, interface, features, name')
    .addHelpText('after', `${WHERE}\n\nExample:\n  ./waybell account list\n`)
    .action(list);
}

function updateCommand(): Command {
  return new Command('update')
    .description('name an account, and switch its features on or off')
    .requiredOption('--guid <guid>', 'the account')
    .option('--name <name>', 'what people call it; "" takes its name from it')
    .option('--add-feature <feature>', 'insurance or servicepay; give it again for each', collected)
    .option('--remove-feature <feature>', 'subscriptions stay; nothing is sent while it is off', collected)
    .addHelpText('after', `${WHERE}\n\nExample:\n  ./waybell account update --guid $ACCOUNT --add-feature servicepay\n`)
    .action(update);
}

function closeCommand(): Command {
  return new Command('close')
    .description('end all that is of an account, and let nothing new begin for it; without --yes, say what would end')
    .argument('<account>', 'its guid, its name, or the beginning of either')
    .option('--yes', 'really close it')
    .addHelpText(
      'after',
      '\nSubscriptions and listeners end, and what waits for them is dropped (closed); access tokens, links and sign-ins to the console' +
        '\nhold no more; credentials and signing secrets are deleted. Nothing goes out after it but requests under way. The delivery log' +
        `\nstays for as long as it is kept, the audit log too.\n${WHERE}\n\nExample:\n  ./waybell account close acme --yes\n`,
    )
    .action(close);
}

function openCommand(): Command {
  return new Command('open')
    .description('open a closed account again; what ended with it stays ended')
    .argument('<account>', 'its guid, its name, or the beginning of either')
    .addHelpText('after', `${WHERE}\n\nExample:\n  ./waybell account open acme\n`)
    .action(open);
}

async function close(called: string, { yes = false }: { yes?: boolean }): Promise<void> {
  const { account: before, closing } = await withDatabase(process.env, async (postgres) => {
    const account = await findAccountCalled(postgres, called);
    await postgres.query('begin');
    const ended = await closeAccount(postgres, { account: account.guid, isDry: !yes });
    await postgres.query('commit');
    return { account, closing: ended };
  });
  print(...endsOf(closing));
  const name = described(before);
  if (before.closed_at !== null) report(`${name} is closed since ${before.closed_at.toISOString()}`);
  else if (yes) report(`closed ${name}`);
  else throw new Error(`nothing was ended of ${name}: add --yes to close it`);
}

async function open(called: string): Promise<void> {
  const account = await withDatabase(process.env, async (postgres) =>
    openAccount(postgres, (await findAccountCalled(postgres, called)).guid),
  );
  report(`${described(account)} is open`);
}

/** A line for each kind of what ends. */
function endsOf(closing: AccountClosing): string[] {
  return Object.entries(closing).flatMap(([kind, count]) =>
    typeof count === 'number' ? [`${kind.replace('_', ' ')}  ${count}`] : [],
  );
}

async function create(options: { interface: string; guid?: string; name?: string; feature?: string[] }): Promise<void> {
  const { interface: interfaceName, guid, name, feature: features } = options;
  const account = await withDatabase(process.env, (postgres) =>
    createAccount(postgres, { interface: interfaceName, guid, name, features }),
  );
  report(`created ${described(account)}; make a token with "./waybell token create --account ${account.guid}"`);
  print(account.guid);
}

async function list(): Promise<void> {
  await withDatabase(process.env, async (postgres) => {
    let page = await listAccounts(postgres);
    while (page.length > 0) {
      for (const account of page) print(summarized(account));
      page = await listAccounts(postgres, { after: page.at(-1)?.guid });
    }
  });
}

async function update(options: AccountArguments): Promise<void> {
  const { guid, name, addFeature: addFeatures, removeFeature: removeFeatures } = options;
  if (name === undefined && addFeatures === undefined && removeFeatures === undefined) {
    throw new Error('nothing to change: give --name, --add-feature or --remove-feature');
  }
  const account = await withDatabase(process.env, (postgres) =>
    updateAccount(postgres, { guid, name, addFeatures, removeFeatures }),
  );
  report(`updated ${described(account)}`);
}

function described({ guid, interface: interfaceName, name, features }: AccountSummary): string {
  return `${interfaceName} ${accountCalled(guid, () => name ?? undefined)} (features: ${features.join(', ') || 'none'})`;
}

function summarized({ guid, interface: interfaceName, name, features, closed_at: closedAt }: AccountSummary): string {
  const closed = closedAt === null ? [] : [`closed ${closedAt.toISOString()}`];
  return [guid, interfaceName, features.join(',') || 'none', ...(name === null ? [] : [name]), ...closed].join('  ');
}
