import { randomUUID } from 'node:crypto';
import { isGuid } from '@waybell/events/guid';
import { Router, type Request } from 'express';
import { ACCOUNTS_PER_PAGE, createAccount, findAccount, listAccounts, updateAccount } from '../../accounts.ts';
import { closeAccount, openAccount } from '../../close-account.ts';
import type { Queryable } from '@waybell/runtime/postgres';
import type { Database } from '../../database.ts';
import { createToken, listTokens, revokeToken } from '../../tokens.ts';
import { createConsoleLink } from '../../console-links.ts';
import {
  readAccountChange,
  readAccountQuery,
  readClosing,
  readNewAccount,
  readNewLink,
  readNewToken,
} from './admin-requests.ts';
import { admitOperator } from './admit-operator.ts';
import type { Authenticate } from '../authentication/authenticate.ts';
import { readJson, readNothing } from '../http/body.ts';
import { Problem } from '../http/problem.ts';
import { readNoQuery } from '../http/read-query.ts';
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
