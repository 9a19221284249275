import { Router } from 'express';
import { answerObject } from '../http/answer-for.ts';
import { addPath } from '../http/routes.ts';
import { requireScope, type Authenticate, type Caller } from './authenticate.ts';

/** Returns the owner and the rights of a request's token, for any valid token, whatever its scopes. */
export function ownTokenRoutes({ authenticate }: { authenticate: Authenticate }): Router {
  const router = Router({ caseSensitive: true });

  addPath(router, ['/v1/token'], {
    async get(request, response) {
      const caller = await authenticate(request);
      const { interface: interfaceName, features } = caller;
      answerObject(caller, response, { interface: interfaceName, ...tokenView(caller), features });
    },
  });

  return router;
}

/** The same for operators. */
export function operatorTokenRoutes({ authenticate }: { authenticate: Authenticate }): Router {
  const router = Router({ caseSensitive: true });

  addPath(router, ['/v1/admin/token'], {
    async get(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'admin');
      response.json(tokenView(caller));
    },
  });

  return router;
}

const tokenView = ({ accountGuid, accountName, clientId, scopes }: Caller) => ({
  account_guid: accountGuid,
  account_name: accountName,
  client_id: clientId,
  scopes,
});
