import { Command } from 'commander';
import { createAccount, listAccounts, updateAccount, type AccountSummary } from '@waybell/subscription-api/accounts';
import { accountCalled } from '../account-called.ts';
import { report } from '../report.ts';
import { withDatabase } from '../with-database.ts';
import { collected } from '../collected.ts';
import { print } from '../print.ts';

const WHERE = '\nDATABASE_URL names the database; without it, the running stack is meant.';

export function accountCommand(): Command {
  return new Command('account')
    .description('create, list and name accounts, and switch their features on and off')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(updateCommand())
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

type AccountArguments = { guid: string; name?: string; addFeature?: string[]; removeFeature?: string[] };

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

function summarized({ guid, interface: interfaceName, name, features }: AccountSummary): string {
  return [guid, interfaceName, features.join(',') || 'none', ...(name === null ? [] : [name])].join('  ');
}
