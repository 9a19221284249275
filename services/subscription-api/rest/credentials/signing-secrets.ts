import { Router } from 'express';
import { rotateRequest } from '../../operations/signing-secret-paths.ts';
import type { SigningSecret } from '../../signing-secrets.ts';
import { requireScope } from '../authentication/authenticate.ts';
import { bodyReader, readOptionalJson } from '../http/body.ts';
import { Problem } from '../http/problem.ts';
import { answerFor, addPath, type RouteOptions } from '../http/routes.ts';

const readRotateRequest = bodyReader<{ force: boolean }>(rotateRequest);

/** A client's signing secrets: the same on either interface. They take the same right as verification tokens. */
export function signingSecretRoutes({ authenticate, signingSecrets }: RouteOptions): Router {
  const router = Router({ caseSensitive: true });

  addPath(router, ['/v1/signing-secrets'], {
    async get(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:write');
      answerFor(caller, response, { objects: (await signingSecrets.list(caller)).map(view) });
    },
  });

  addPath(router, ['/v1/signing-secrets/rotate'], {
    async post(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:write');
      const { force } = readRotateRequest(await readOptionalJson(request, response));
      const { isRotated, secrets } = await signingSecrets.rotate(caller, { endsEarlier: force });
      if (!isRotated) throw underWay(secrets);
      answerFor(caller, response, { objects: secrets.map(view) });
    },
  });

  return router;
}

/** A receiver that checks notifications with the earlier one would refuse them all from then on. */
function underWay([, earlier]: SigningSecret[]): Problem {
  const detail =
    `The secret before the last rotation is valid until ${earlier?.expiresAt?.toISOString() ?? 'then'}: rotate after that, ` +
    'or end it at once with {"force": true}.';
  return new Problem('rotation-under-way', detail);
}

function view({ secret, createdAt, expiresAt }: SigningSecret) {
  return { secret, created_at: createdAt.toISOString(), expires_at: expiresAt?.toISOString() ?? null };
}
