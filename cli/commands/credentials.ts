import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import type { TokenCheckResult } from '@waybell/notifications/receiver-credentials';
import { asClient, clientApi, type ApiCommandOptions } from '../client-api.ts';
import { counted } from '../in-words.ts';
import { print, report } from '../print.ts';

const EXAMPLE = '\nExample:\n  ./waybell credentials put receiver.example.com --file credentials.json\n';
const DAY_MS = 86_400_000;

type ShowOptions = ApiCommandOptions & { json?: true };

/** Files that hold credentials; `file`, which may be `-` for the standard input, holds JSON as the API takes it. */
type CredentialFiles = { file?: string; certificate?: string; key?: string };

/** The credentials for a host as the API answers them: no secret. A kind that they do not have is null. */
export type CredentialsAnswer = {
  host: string;
  headers: string[] | null;
  basic: { username: string } | null;
  oauth2: {
    token_url: string;
    client_id: string;
    scope?: string;
    audience?: string;
    secret_in: string;
  } | null;
  certificate: { subject: string; issuer: string; not_before: string; not_after: string; fingerprint: string } | null;
  changed_at: string;
  subscriptions: number;
};

type Kind<Name extends 'oauth2' | 'certificate'> = NonNullable<CredentialsAnswer[Name]>;

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

const ofHost = (name: string, description: string): Command =>
  asClient(new Command(name).description(description)).argument(
    '<host>',
    'that of the callback URLs, with the port where they have one',
  );

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

/**
 * Reads credentials, as the API takes them, from all files together. Throws an Error, without the content of the files, if that
 * is none.
 */
export function readCredentials({ file, certificate, key }: CredentialFiles): string {
  if ((certificate === undefined) !== (key === undefined)) throw new Error('give both: --certificate and --key');
  if (file === undefined && certificate === undefined)
    throw new Error('say what to put in: --file, or --certificate and --key, or all three');
  return JSON.stringify({
    ...(file !== undefined && jsonIn(file)),
    ...(certificate !== undefined && {
      certificate: { chain: readFileSync(certificate, 'utf8'), key: readFileSync(key ?? '', 'utf8') },
    }),
  });
}

function jsonIn(file: string): object {
  const parsed = parsedOf(readFileSync(file === '-' ? 0 : file, 'utf8'));
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw new Error(`${file}: it must be a JSON object, such as {"headers":{"X-Api-Key":"…"}}`);
}

/** Returns undefined for a text that is no JSON: the error of Node.js would quote it. */
function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** On one line: the host, what callbacks authenticate with there, and how many subscriptions call it. */
export function describeCredentials(credentials: CredentialsAnswer, nowMs: number): string {
  const { host, headers, basic, oauth2, certificate, subscriptions } = credentials;
  const kinds = [
    ...(headers?.length ? [`headers ${headers.join(', ')}`] : []),
    ...(basic === null ? [] : [`basic ${basic.username}`]),
    ...(oauth2 === null ? [] : [`oauth2 ${oauth2.client_id}`]),
    ...(certificate === null ? [] : [`certificate ${endOf(certificate.not_after, nowMs)}`]),
  ];
  return [host, ...kinds, counted(subscriptions, 'subscription')].join('  ');
}

/** The same with all that is known, on a line each. */
export function describeInFull(credentials: CredentialsAnswer, nowMs: number): string[] {
  const { headers, basic, oauth2, certificate, subscriptions } = credentials;
  return [
    ...(headers?.length ? [`headers: ${headers.join(', ')}`] : []),
    ...(basic === null ? [] : [`basic: ${basic.username}`]),
    ...(oauth2 === null ? [] : [`oauth2: ${describeOAuth2(oauth2)}`]),
    ...(certificate === null ? [] : [`certificate: ${describeCertificate(certificate, nowMs)}`]),
    `changed: ${credentials.changed_at}`,
    `called by: ${counted(subscriptions, 'subscription')}`,
  ];
}

function describeOAuth2({ token_url: url, client_id: id, scope, audience, secret_in: place }: Kind<'oauth2'>): string {
  const terms = [...(scope ? [`scope ${scope}`] : []), ...(audience ? [`audience ${audience}`] : [])];
  return [url, `client ${id}`, ...terms, `secret in the ${place}`].join('  ');
}

function describeCertificate(certificate: Kind<'certificate'>, nowMs: number): string {
  const { subject, issuer, not_before: from, not_after: to, fingerprint } = certificate;
  return [subject, `issued by ${issuer}`, `valid from ${from} to ${to}`, endOf(to, nowMs), fingerprint].join('  ');
}

function endOf(notAfter: string, nowMs: number): string {
  const leftMs = Date.parse(notAfter) - nowMs;
  if (leftMs <= 0) return 'over';
  return leftMs < DAY_MS ? 'ends within a day' : `ends in ${counted(Math.floor(leftMs / DAY_MS), 'day')}`;
}
