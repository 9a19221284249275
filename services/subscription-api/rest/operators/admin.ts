import { randomUUID } from 'node:crypto';
import { Router, type Request } from 'express';
import type { Feature, Interface } from '@waybell/catalog/action';
import { newConsoleLink } from '../../operations/access-paths.ts';
import { adminSchemas } from '../../operations/admin-document.ts';
import {
  accountChange,
  accountClosing,
  accountParameters,
  newAccount,
  newToken,
} from '../../operations/admin-paths.ts';
import { isGuid } from '@waybell/events/timestamp';
import { parseDurationMs } from '@waybell/runtime/duration';
import type { Queryable } from '@waybell/runtime/postgres';
import { ACCOUNTS_PER_PAGE, createAccount, findAccount, listAccounts, updateAccount } from '../../accounts.ts';
import { closeAccount, openAccount } from '../../close-account.ts';
import { createConsoleLink, type LinkScope } from '../../console-links.ts';
import type { Database } from '../../database.ts';
import { createToken, listTokens, revokeToken, type Scope } from '../../tokens.ts';
import { admitOperator, type Authenticate } from '../authentication/authenticate.ts';
import { readJson, readNothing, bodyReader } from '../http/body.ts';
import { Problem } from '../http/problem.ts';
import { readNoQuery, queryReader } from '../http/read-query.ts';
import { addPath, type GuidParams } from '../http/routes.ts';

type ChangeAsOperator = (request: Request) => Promise<<T>(work: (postgres: Queryable) => Promise<T>) => Promise<T>>;

/** The same as `./waybell account` and `./waybell token`, by the same functions. */
export function adminRoutes({ authenticate, database }: { authenticate: Authenticate; database: Database }): Router {
  const router = Router({ caseSensitive: true });

  /** Requires the operator's scope; the audit log names the operator for each change. */
  const admit: ChangeAsOperator = async (request) => {
    const actor = await admitOperator(authenticate, request);
    return (work) => database.change(actor, work);
  };

  addPath(router, ['/v1/admin/accounts'], {
    async get(request, response) {
      const run = await admit(request);
      const { after } = readAccountQuery(request);
      const objects = await run((postgres) => listAccounts(postgres, { after }));
      const next = objects.length < ACCOUNTS_PER_PAGE ? null : objects.at(-1)?.guid;
      response.json({ objects, next });
    },
    async post(request, response) {
      const run = await admit(request);
      const account = readNewAccount(await readJson(request, response));
      response.status(201).json(await run((postgres) => createAccount(postgres, account)));
    },
  });

  addPath<GuidParams>(router, ['/v1/admin/accounts/:guid'], {
    async get(request, response) {
      const run = await admit(request);
      const guid = requireGuid(request, 'unknown-account');
      readNoQuery(request);
      response.json(await run((postgres) => findAccount(postgres, guid)));
    },
    async patch(request, response) {
      const run = await admit(request);
      const guid = requireGuid(request, 'unknown-account');
      const change = readAccountChange(await readJson(request, response));
      response.json(await run((postgres) => updateAccount(postgres, { guid, ...change })));
    },
  });

  addClosing(router, admit);

  addTokens(router, admit);
  return router;
}

function addTokens(router: Router, admit: ChangeAsOperator): void {
  addPath<GuidParams>(router, ['/v1/admin/accounts/:guid/tokens'], {
    async get(request, response) {
      const run = await admit(request);
      const accountGuid = requireGuid(request, 'unknown-account');
      response.json({ objects: await run((postgres) => listTokens(postgres, accountGuid)) });
    },
    async post(request, response) {
      const run = await admit(request);
      const accountGuid = requireGuid(request, 'unknown-account');
      const body = readNewToken(await readJson(request, response));
      const guid = randomUUID();
      const token = await run((postgres) => createToken(postgres, { accountGuid, guid, ...body }));
      response.status(201).json({ guid, token });
    },
  });

  addPath<GuidParams>(router, ['/v1/admin/accounts/:guid/console-links'], {
    async post(request, response) {
      const run = await admit(request);
      const accountGuid = requireGuid(request, 'unknown-account');
      const body = readNewLink(await readJson(request, response));
      const { guid, path, expiresAt } = await run((postgres) => createConsoleLink(postgres, { accountGuid, ...body }));
      response.status(201).json({ guid, path, expires_at: expiresAt });
    },
  });

  addPath<GuidParams>(router, ['/v1/admin/tokens/:guid'], {
    async delete(request, response) {
      const run = await admit(request);
      const guid = requireGuid(request, 'unknown-token');
      await readNothing(request, response);
      const goingOn = await run((postgres) => revokeToken(postgres, guid));
      if (goingOn === undefined) return response.status(204).end();
      const { account, client, subscriptions, ofAccount } = goingOn;
      const view = { account_guid: account, client_id: client, subscriptions, subscriptions_of_account: ofAccount };
      response.json(view);
    },
  });
}

function addClosing(router: Router, admit: ChangeAsOperator): void {
  addPath<GuidParams>(router, ['/v1/admin/accounts/:guid/close'], {
    async post(request, response) {
      const run = await admit(request);
      const account = requireGuid(request, 'unknown-account');
      const { dry_run: isDry } = readClosing(await readJson(request, response));
      response.json(await run((postgres) => closeAccount(postgres, { account, isDry })));
    },
  });

  addPath<GuidParams>(router, ['/v1/admin/accounts/:guid/open'], {
    async post(request, response) {
      const run = await admit(request);
      const account = requireGuid(request, 'unknown-account');
      await readNothing(request, response);
      response.json(await run((postgres) => openAccount(postgres, account)));
    },
  });
}

function requireGuid({ params: { guid } }: Request<GuidParams>, kind: 'unknown-account' | 'unknown-token'): string {
  if (!isGuid(guid)) throw new Problem(kind, 'The path has to hold a guid.');
  return guid.toLowerCase();
}

type NewAccount = { interface: Interface; guid?: string; name?: string | null; features?: Feature[] };
type AccountChange = { name?: string | null; add_features?: Feature[]; remove_features?: Feature[] };
type NewToken = { client_id?: string; scopes?: Scope[]; expires_in?: string };
type NewLink = { client_id?: string; scopes?: LinkScope[]; expires_in?: string; token_expires_in?: string };

// Each throws a Problem (422) that names everything wrong with what it reads.

/** Reads the page of accounts. */
const readAccountQuery = queryReader<{ after?: string }>(accountParameters, adminSchemas);

/** The body of a request to make an account. */
const readNewAccount = bodyReader<NewAccount>(newAccount, adminSchemas);

/** The body of a request to name an account, and to switch features. */
function readAccountChange(body: unknown) {
  const { name, add_features: addFeatures, remove_features: removeFeatures } = readChange(body);
  return { name, addFeatures, removeFeatures };
}

/** The body of a request to make a token. */
function readNewToken(body: unknown) {
  const { client_id: clientId, scopes, expires_in: expiresIn } = readToken(body);
  return { clientId, scopes, expiresInMs: expiresIn === undefined ? undefined : parseDurationMs(expiresIn) };
}

/** The body of a request to make a link to the console. */
function readNewLink(body: unknown) {
  const { client_id: clientId, scopes, expires_in: linkLife, token_expires_in: tokenLife } = readLink(body);
  const lives = {
    expiresInMs: linkLife === undefined ? undefined : parseDurationMs(linkLife),
    tokenExpiresInMs: tokenLife === undefined ? undefined : parseDurationMs(tokenLife),
  };
  return { clientId, scopes, ...lives };
}

/** The body of a request to close an account. */
const readClosing = bodyReader<{ dry_run: boolean }>(accountClosing, adminSchemas);

const readChange = bodyReader<AccountChange>(accountChange, adminSchemas);
const readLink = bodyReader<NewLink>(newConsoleLink, adminSchemas);
const readToken = bodyReader<NewToken>(newToken, adminSchemas);
