/**
 * Access tokens: the owner and the rights of a request's token, for clients and for operators; and the exchange of a link to the console
 * for one.
 */
import { openConsoleLink } from '../console-links.ts';
import { SCOPES } from '../tokens.ts';
import { originOf } from '../rest/authentication/authenticate.ts';
import { Problem } from '../rest/http/problem.ts';
import { bare, one, operationsOf } from './operation.ts';
import { choice, closed, component, guid, list, moment, object, orNull, text } from './schema.ts';
import type { ClientServices } from './services.ts';

/** An access token, as it is shown once. */
export const newToken = text({ pattern: String.raw`^wbl_[\w-]{43}$` });

const owner = {
  account_guid: guid(),
  account_name: orNull(text({ description: 'What people call it.', examples: ['Acme'] })),
  client_id: text({ examples: ['default'] }),
  scopes: list(choice(SCOPES)),
};

const OwnToken = component(
  'OwnToken',
  object({
    interface: choice(['shipper', 'carrier']),
    ...owner,
    features: list(choice(['insurance', 'servicepay']), 'Those that are enabled for the account.'),
  }),
);

const withoutServices = operationsOf<unknown>();

export const ownToken = withoutServices({
  method: 'get',
  path: '/v1/token',
  id: 'getToken',
  tag: 'Access token',
  summary: 'See whose the access token is, and what it may do',
  description: 'Every access token that holds may ask, whatever its scopes.',
  scope: 'any',
  answers: { 200: one('Whose it is.', OwnToken) },
  handle: ({ caller }) => caller,
});

export const operatorToken = withoutServices({
  method: 'get',
  path: '/v1/admin/token',
  id: 'getOwnToken',
  tag: 'Access tokens',
  summary: 'See whose the access token of the request is',
  scope: 'admin',
  answers: { 200: bare('Whose it is.', object(owner)) },
  handle: ({ caller }) => caller,
});

const code = text({
  maxLength: 200,
  pattern: String.raw`^[\x21-\x7e]+$`,
  description: 'what follows `#link=` in the link: visible ASCII characters',
});

/** Wrong codes count as invalid access tokens do. */
export const consoleSession = operationsOf<Pick<ClientServices, 'database' | 'failures'>>()({
  method: 'post',
  path: '/v1/console-sessions',
  id: 'createConsoleSession',
  tag: 'Access token',
  summary: 'Sign in to the console by a link',
  description: 'The console does so: a link that an operator has made is exchanged for an access token, once.',
  scope: null,
  body: { schema: closed({ code }) },
  answers: {
    201: bare('The access token, shown this once.', object({ token: newToken, expires_at: moment() })),
  },
  problems: ['invalid-link', 'too-many-requests', 'unavailable'],
  async handle({ request, body, services: { database, failures } }) {
    await failures.requireFew(request);
    const from = originOf(request);
    const opened = await database.change({ who: 'console link', ...from }, (postgres) =>
      openConsoleLink(postgres, body.code, from),
    );
    if (opened !== undefined) return opened;
    await failures.note(request);
    throw new Problem('invalid-link', 'The link was opened before, or its time is over. Ask for a new one.');
  },
});
