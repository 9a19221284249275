import { Router } from 'express';
import type { SigningSecret } from '../signing-secrets.ts';
import { requireScope } from './authenticate.ts';
import { readNothing } from './body.ts';
import { addPath, type RouteOptions } from './routes.ts';

/** An account's signing secrets: the same on either interface. Whoever may see verification tokens may see them. */
export function signingSecretRoutes({ authenticate, signingSecrets }: RouteOptions): Router {
  const router = Router({ caseSensitive: true });

  addPath(router, ['/v1/signing-secrets'], {
    async get(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:write');
      response.json((await signingSecrets.list(caller)).map(view));
    },
  });

  addPath(router, ['/v1/signing-secrets/rotate'], {
    async post(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:write');
      await readNothing(request, response);
      response.json((await signingSecrets.rotate(caller)).map(view));
    },
  });

  return router;
}

function view({ secret, createdAt, expiresAt }: SigningSecret) {
  return { secret, created_at: createdAt.toISOString(), expires_at: expiresAt?.toISOString() ?? null };
}
