import { Command } from 'commander';
import type { TokenCheckResult } from '@waybell/notifications/receiver-credentials';
import { asClient } from '../as-client.ts';
import { clientApi, type ApiCommandOptions } from '../client-api.ts';
import { describeCredentials, describeInFull, type CredentialsAnswer } from '../credentials/describe-credentials.ts';
import { readCredentials, type CredentialFiles } from '../credentials/read-credentials.ts';
import { print } from '../print.ts';
import { report } from '../report.ts';

export function credentialsCommand(): Command {
  return new Command('credentials')
    .description('what callbacks authenticate with at a host: headers, basic, OAuth2, a certificate; as their client')
    .addCommand(listCommand())
    .addCommand(
      ofHost('show', 'show what is known of those for a host: never a secret')
        .option('--json', 'as the API answers')
        .action(show),
    )
    .addCommand(putCommand())
    .addCommand(ofHost('remove', 'remove those for a host: callbacks go there without them from now on').action(remove))
    .addHelpText('after', EXAMPLE);
}

const EXAMPLE = '\nExample:\n  ./waybell credentials put receiver.example.com --file credentials.json\n';

const ofHost = (name: string, description: string): Command =>
  asClient(new Command(name).description(description)).argument(
    '<host>',
    'that of the callback URLs, with the port where they have one',
  );

function listCommand(): Command {
  return asClient(
    new Command('list').description(
      'list the hosts, what callbacks authenticate with there, and how many subscriptions',
    ),
  )
    .option('--json', 'one JSON object a line')
    .addHelpText('after', '\nExample:\n  ./waybell credentials list\n')
    .action(list);
}

function putCommand(): Command {
  return ofHost('put', 'put in those for a host, in the place of all that there are for it')
    .option('-f, --file <file>', 'JSON as the API takes it, - being the standard input')
    .option('--certificate <file>', 'for TLS client authentication: the certificate and its intermediates, in PEM')
    .option('--key <file>', 'its private key, in PEM, without a passphrase')
    .addHelpText(
      'after',
      [
        '',
        'A file has one or more of these; a certificate comes from the other options as well:',
        '  {"headers": {"X-Api-Key": "…"},',
        '   "basic": {"username": "…", "password": "…"},',
        '   "oauth2": {"token_url": "https://…", "client_id": "…", "client_secret": "…", "scope": "…"}}',
        'What is sent from now on has them. No secret is shown again.',
        EXAMPLE,
      ].join('\n'),
    )
    .action(put);
}

type ShowOptions = ApiCommandOptions & { json?: true };

async function list({ json, ...options }: ShowOptions): Promise<void> {
  const { objects } = (await clientApi(options, process.env).ask('GET', '/v1/credentials')) as {
    objects: CredentialsAnswer[];
  };
  if (objects.length === 0) report('this client has put in no credentials');
  for (const each of objects) print(json ? JSON.stringify(each) : describeCredentials(each, Date.now()));
}

async function show(host: string, { json, ...options }: ShowOptions): Promise<void> {
  const found = (await clientApi(options, process.env).ask('GET', pathOf(host))) as CredentialsAnswer;
  print(...(json ? [JSON.stringify(found)] : describeInFull(found, Date.now())));
}

async function put(host: string, options: ApiCommandOptions & CredentialFiles): Promise<void> {
  const body = readCredentials(options);
  const answer = await clientApi(options, process.env).ask('PUT', pathOf(host), body);
  print(describeCredentials(answer as CredentialsAnswer, Date.now()));
  const { token } = answer as { token?: TokenCheckResult | null };
  if (token?.status === 'issued') report('the token URL gave a token');
  if (token?.status === 'not_tried') report('nobody could ask the token URL now: test a subscription to its host');
  if (token?.status === 'failed') report(`they are stored, but there is no token. ${token.detail}`);
}

async function remove(host: string, options: ApiCommandOptions): Promise<void> {
  await clientApi(options, process.env).ask('DELETE', pathOf(host));
  report(`removed the credentials for ${host}`);
}

const pathOf = (host: string): string => `/v1/credentials/${encodeURIComponent(host)}`;
