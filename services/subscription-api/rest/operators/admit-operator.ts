import type { Request } from 'express';
import type { Actor } from '../../actor.ts';
import { requireScope, type Authenticate } from '../authentication/authenticate.ts';

/** Throws a Problem (401, 403) unless the request has a token with the scope `admin`; else says who is named for what it changes. */
export async function admitOperator(authenticate: Authenticate, request: Request): Promise<Actor> {
  const caller = await authenticate(request);
  requireScope(caller, 'admin');
  return caller.actor;
}
