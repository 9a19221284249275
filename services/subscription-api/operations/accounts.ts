/** Accounts, their API clients, access tokens and links to the console: as `./waybell account` and `token`, by the same functions. */
import { randomUUID } from 'node:crypto';
import { ACCOUNT_NAME_PATTERN } from '@waybell/delivery-log/read/accounts';
import { isGuid } from '@waybell/events/timestamp';
import type { ProblemKind } from '@waybell/contracts/problem-kinds';
import { parseDurationMs } from '@waybell/runtime/duration';
import { ACCOUNTS_PER_PAGE, clientsOf, createAccount, findAccount, listAccounts, updateAccount } from '../accounts.ts';
import { closeAccount, openAccount } from '../close-account.ts';
import { createConsoleLink, LINK_SCOPES } from '../console-links.ts';
import { Problem } from '../rest/http/problem.ts';
import { createToken, listTokens, revokeToken, SCOPES } from '../tokens.ts';
import { newToken } from './access.ts';
import {
  parameter,
  bare,
  byGuid,
  guidInPath,
  noBody,
  noQuery,
  nothing,
  operationsOf,
  Replied,
  type PathParameter,
} from './operation.ts';
import {
  choice,
  closed,
  component,
  count,
  defaulted,
  described,
  flag,
  from,
  guid,
  list,
  moment,
  object,
  objects,
  optional,
  orNull,
  text,
} from './schema.ts';
import type { OperatorServices } from './services.ts';

const operation = operationsOf<Pick<OperatorServices, 'database'>>();

/** A guid of something that there may be. */
const guidOf = (unknown: ProblemKind): PathParameter<string> => ({
  schema: guid(),
  read(value) {
    if (!isGuid(value)) throw new Problem(unknown, 'The path has to hold a guid.');
    return value.toLowerCase();
  },
});

const Feature = component('Feature', choice(['insurance', 'servicepay'], { type: 'string' }));

export const ClientId = component(
  'ClientId',
  text({
    pattern: String.raw`^[\x21-\x7e]{1,200}$`,
    description: '1 to 200 visible ASCII characters',
    examples: ['tms'],
  }),
);

const Duration = component(
  'Duration',
  text({
    pattern: String.raw`^\s*\d+(\.\d+)?(ms|s|m|h|d)\s*$`,
    description: 'a number and a unit, such as 250ms, 4s, 1m, 24h or 90d',
    examples: ['90d'],
  }),
);

const Scopes = component('Scopes', list(choice(SCOPES, { type: 'string' }), { minItems: 1 }));

const name = orNull(text({ description: 'What people call it.', examples: ['Acme'] }));

/** A time that may not be, told without an example. */
const timeOrNull = (told = {}) => orNull(text({ format: 'date-time', ...told }));

export const Account = component(
  'Account',
  object({
    guid: guid('By which events name it.'),
    interface: choice(['shipper', 'carrier']),
    name,
    features: list(Feature),
    closed_at: timeOrNull({ description: 'Null: it is open.' }),
  }),
);

const AccountClient = component(
  'AccountClient',
  object({
    client_id: ClientId,
    subscriptions: count('Current ones.'),
    switched_off: count('Of these, switched off.'),
    tokens: count('Access tokens that hold; JWTs are not among them.'),
    token_last_used_at: timeOrNull({ description: 'Of any of them, to the minute; null: never.' }),
  }),
);

const AccountClosing = component(
  'AccountClosing',
  object({
    account: Account,
    subscriptions: count(),
    waiting: count('Deliveries that wait for them in the database, counted up to 10,000.'),
    tokens: count(),
    console_links: count('Links that can be opened, and sign-ins by others.'),
    credentials: count(),
    signing_secrets: count(),
    listeners: count(),
  }),
);

const GoingOn = component(
  'GoingOn',
  object({
    account_guid: guid(),
    client_id: from('client', ClientId),
    subscriptions: count('Of the client.'),
    subscriptions_of_account: from(
      'ofAccount',
      count('Of the account, where it has no access token any more; else 0. JWTs are not known.'),
    ),
  }),
);

const AccessToken = component(
  'AccessToken',
  object({
    guid: guid(),
    client_id: ClientId,
    scopes: Scopes,
    created_at: text({ format: 'date-time' }),
    expires_at: timeOrNull({ description: 'Null: it holds until it is revoked.' }),
    revoked_at: timeOrNull(),
    last_used_at: timeOrNull({ description: 'To the minute; null: never.' }),
    console_link: choice(
      ['unopened', 'opened', null],
      'Of the token of a link to the console, which is none until that is opened; else null.',
    ),
  }),
);

const features = optional(list(Feature));
const newName = optional(
  described(name, {
    pattern: ACCOUNT_NAME_PATTERN,
    description: 'a name of at most 200 printable characters; null or an empty one for none',
  }),
);

const accounts = { tag: 'Accounts', scope: 'admin' } as const;
const tokens = { tag: 'Access tokens', scope: 'admin' } as const;
const ofAccount = { parameters: { guid: guidOf('unknown-account') }, problems: ['unknown-account'] } as const;
const ofAccountAsItIs = { ...ofAccount, problems: ['malformed-request', 'unknown-account'] } as const;
const ofOpenAccount = { ...ofAccount, problems: ['unknown-account', 'account-closed'] } as const;

/** A duration that may be left out. */
const readDurationMs = (duration: string | undefined) =>
  duration === undefined ? undefined : parseDurationMs(duration);

export const accountOperations = [
  operation({
    ...accounts,
    method: 'get',
    path: '/v1/admin/accounts',
    id: 'listAccounts',
    summary: 'List accounts',
    query: { after: parameter('The `next` of the page before.', guid()) },
    answers: {
      200: bare(
        'Up to 1,000 accounts, by guid.',
        closed({ objects: list(Account), next: orNull(guid('Null: there are no more.')) }),
        byGuid('/objects/0/guid', 'updateAccount', 'listTokens', 'createToken'),
      ),
    },
    async handle({ caller, query, services: { database } }) {
      const found = await database.change(caller.actor, (postgres) => listAccounts(postgres, query));
      return { objects: found, next: found.length < ACCOUNTS_PER_PAGE ? null : found.at(-1)?.guid };
    },
  }),

  operation({
    ...accounts,
    method: 'post',
    path: '/v1/admin/accounts',
    id: 'createAccount',
    summary: 'Create an account',
    description: 'A broker is an account on the shipper interface.',
    body: {
      schema: closed({
        interface: choice(['shipper', 'carrier']),
        guid: optional(guid()),
        name: newName,
        features,
      }),
    },
    answers: { 201: bare('The account.', Account) },
    problems: ['account-exists'],
    handle: ({ caller, body, services: { database } }) =>
      database.change(caller.actor, (postgres) => createAccount(postgres, body)),
  }),

  operation({
    ...accounts,
    ...ofAccountAsItIs,
    method: 'get',
    path: '/v1/admin/accounts/{guid}',
    id: 'getAccount',
    summary: 'See an account',
    query: noQuery,
    answers: { 200: bare('The account.', Account) },
    handle: ({ caller, path, services: { database } }) =>
      database.change(caller.actor, (postgres) => findAccount(postgres, path.guid)),
  }),

  operation({
    ...accounts,
    ...ofAccount,
    method: 'patch',
    path: '/v1/admin/accounts/{guid}',
    id: 'updateAccount',
    summary: 'Name an account, and switch its features on and off',
    description: 'What is subscribed stays; nothing is sent for it while its feature is off.',
    body: { schema: closed({ name: newName, add_features: features, remove_features: features }) },
    answers: { 200: bare('The account as it is now.', Account) },
    handle: ({
      caller,
      path,
      body: { name: called, add_features: addFeatures, remove_features: removeFeatures },
      services: { database },
    }) =>
      database.change(caller.actor, (postgres) =>
        updateAccount(postgres, { ...path, name: called, addFeatures, removeFeatures }),
      ),
  }),

  operation({
    ...accounts,
    ...ofAccount,
    method: 'post',
    path: '/v1/admin/accounts/{guid}/close',
    id: 'closeAccount',
    summary: 'Close an account',
    description:
      'Its subscriptions and listeners end, and what waits for them is dropped (`closed`); its access tokens, links and sign-ins to the console hold no more; its credentials and signing secrets are deleted. Nothing goes out after it but requests that are under way. Nothing new can be made for it until it is opened again, by a JWT neither. The delivery log stays for as long as it is kept, and the audit log too. Once more is fine.',
    body: {
      schema: closed({
        dry_run: defaulted(flag({ default: false, description: 'Whether to say only what would end.' })),
      }),
    },
    answers: { 200: bare('What ended, or would.', AccountClosing) },
    handle: ({ caller, path: { guid: account }, body: { dry_run: isDry }, services: { database } }) =>
      database.change(caller.actor, (postgres) => closeAccount(postgres, { account, isDry })),
  }),

  operation({
    ...accounts,
    ...ofAccount,
    method: 'post',
    path: '/v1/admin/accounts/{guid}/open',
    id: 'openAccount',
    summary: 'Open a closed account again',
    description: 'What ended with it stays ended. Once more is fine.',
    body: noBody,
    answers: { 200: bare('The account as it is now.', Account) },
    handle: ({ caller, path, services: { database } }) =>
      database.change(caller.actor, (postgres) => openAccount(postgres, path.guid)),
  }),

  operation({
    ...tokens,
    ...ofAccountAsItIs,
    method: 'get',
    path: '/v1/admin/accounts/{guid}/tokens',
    id: 'listTokens',
    summary: 'List the access tokens of an account',
    description: 'Oldest first; never the tokens themselves, and none of links that have ended.',
    answers: {
      200: bare('The access tokens.', closed({ objects: list(AccessToken) }), byGuid('/objects/0/guid', 'revokeToken')),
    },
    handle: async ({ caller, path, services: { database } }) => ({
      objects: await database.change(caller.actor, (postgres) => listTokens(postgres, path.guid)),
    }),
  }),

  operation({
    ...tokens,
    ...ofOpenAccount,
    method: 'post',
    path: '/v1/admin/accounts/{guid}/tokens',
    id: 'createToken',
    summary: 'Create an access token',
    description: 'Only a hash of it is kept. Without `scopes` it has `webhooks:read` and `webhooks:write`.',
    body: {
      schema: closed({
        client_id: optional(described(ClientId, 'Each has subscriptions of its own; else `default`.')),
        scopes: optional(Scopes),
        expires_in: optional(described(Duration, 'Without it, the token holds until it is revoked.')),
      }),
    },
    answers: {
      201: bare('The access token, shown this once.', closed({ guid: guid(), token: newToken })),
    },
    async handle({
      caller,
      path: { guid: accountGuid },
      body: { client_id: clientId, scopes, expires_in: life },
      services: { database },
    }) {
      const made = { accountGuid, guid: randomUUID(), clientId, scopes, expiresInMs: readDurationMs(life) };
      return { guid: made.guid, token: await database.change(caller.actor, (postgres) => createToken(postgres, made)) };
    },
  }),

  operation({
    ...accounts,
    method: 'get',
    path: '/v1/admin/accounts/{guid}/clients',
    id: 'listClients',
    summary: 'List the API clients of an account',
    description: 'By id: those that have, or had, an access token or a subscription.',
    parameters: { guid: guidInPath() },
    query: noQuery,
    answers: { 200: bare('The clients.', objects(AccountClient)) },
    problems: ['unknown-account'],
    handle: async ({ path, services: { database } }) => ({
      objects: await database.askLog(async (postgres) => {
        await findAccount(postgres, path.guid);
        return clientsOf(postgres, path.guid);
      }),
    }),
  }),

  operation({
    ...tokens,
    ...ofOpenAccount,
    method: 'post',
    path: '/v1/admin/accounts/{guid}/console-links',
    id: 'createConsoleLink',
    summary: 'Create a link that opens the console for a client, once',
    description:
      'For a platform that shows the console within a page of its own (`CONSOLE_PARENTS`), or for a person who has no token. The first to open it is signed in. It is in the list of access tokens, and ends when revoked there. The audit log names the operator for the link and for its opening.',
    body: {
      schema: closed({
        client_id: optional(described(ClientId, 'The client that the console is opened for; else `default`.')),
        scopes: optional(
          list(choice(LINK_SCOPES, { type: 'string' }), {
            minItems: 1,
            description: 'What may be done there; else `webhooks:read`.',
          }),
        ),
        expires_in: optional(described(Duration, 'How long it can be opened: a day at most; else 10m.')),
        token_expires_in: optional(
          described(Duration, 'How long one is signed in, from the opening on: a day at most; else 1h.'),
        ),
      }),
    },
    answers: {
      201: bare(
        'The link, shown this once.',
        object({
          guid: guid('Of the access token that it is opened with.'),
          path: text({
            pattern: String.raw`^/console/#link=wbk_[\w-]{43}$`,
            description:
              'Append it to the address at which clients reach the API. A page of the console may follow, such as `/deliveries`.',
          }),
          expires_at: moment(),
        }),
      ),
    },
    handle({ caller, path: { guid: accountGuid }, body, services: { database } }) {
      const { client_id: clientId, scopes, expires_in: linkLife, token_expires_in: tokenLife } = body;
      const lives = { expiresInMs: readDurationMs(linkLife), tokenExpiresInMs: readDurationMs(tokenLife) };
      return database.change(caller.actor, (postgres) =>
        createConsoleLink(postgres, { accountGuid, clientId, scopes, ...lives }),
      );
    },
  }),

  operation({
    ...tokens,
    method: 'delete',
    path: '/v1/admin/tokens/{guid}',
    id: 'revokeToken',
    summary: 'End an access token at once',
    description: 'Once more is fine.',
    parameters: { guid: guidOf('unknown-token') },
    body: noBody,
    answers: {
      200: bare('It no longer holds, and was the last of its client, whose subscriptions go on.', GoingOn),
      204: nothing('It no longer holds.'),
    },
    problems: ['unknown-token'],
    handle: async ({ caller, path, services: { database } }) =>
      (await database.change(caller.actor, (postgres) => revokeToken(postgres, path.guid))) ??
      new Replied(204, undefined),
  }),
];
