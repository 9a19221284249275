import type { Feature, Interface } from '@waybell/catalog/action';
import { adminSchemas } from '@waybell/contracts/openapi/admin-document';
import { newConsoleLink } from '@waybell/contracts/openapi/console-link-paths';
import {
  accountChange,
  accountClosing,
  accountParameters,
  newAccount,
  newToken,
} from '@waybell/contracts/openapi/admin-paths';
import { parseDurationMs } from '@waybell/runtime/duration';
import type { LinkScope } from '../../console-links.ts';
import type { Scope } from '../../tokens.ts';
import { bodyReader } from '../http/body.ts';
import { queryReader } from '../http/read-query.ts';

type NewAccount = { interface: Interface; guid?: string; name?: string | null; features?: Feature[] };
type AccountChange = { name?: string | null; add_features?: Feature[]; remove_features?: Feature[] };
type NewToken = { client_id?: string; scopes?: Scope[]; expires_in?: string };
type NewLink = { client_id?: string; scopes?: LinkScope[]; expires_in?: string; token_expires_in?: string };

// Each throws a Problem (422) that names everything wrong with what it reads.

/** Reads the page of accounts. */
export const readAccountQuery = queryReader<{ after?: string }>(accountParameters, adminSchemas);

/** The body of a request to make an account. */
export const readNewAccount = bodyReader<NewAccount>(newAccount, adminSchemas);

/** The body of a request to name an account, and to switch features. */
export function readAccountChange(body: unknown) {
  const { name, add_features: addFeatures, remove_features: removeFeatures } = readChange(body);
  return { name, addFeatures, removeFeatures };
}

/** The body of a request to make a token. */
export function readNewToken(body: unknown) {
  const { client_id: clientId, scopes, expires_in: expiresIn } = readToken(body);
  return { clientId, scopes, expiresInMs: expiresIn === undefined ? undefined : parseDurationMs(expiresIn) };
}

/** The body of a request to make a link to the console. */
export function readNewLink(body: unknown) {
  const { client_id: clientId, scopes, expires_in: linkLife, token_expires_in: tokenLife } = readLink(body);
  const lives = {
    expiresInMs: linkLife === undefined ? undefined : parseDurationMs(linkLife),
    tokenExpiresInMs: tokenLife === undefined ? undefined : parseDurationMs(tokenLife),
  };
  return { clientId, scopes, ...lives };
}

/** The body of a request to close an account. */
export const readClosing = bodyReader<{ dry_run: boolean }>(accountClosing, adminSchemas);

const readChange = bodyReader<AccountChange>(accountChange, adminSchemas);
const readLink = bodyReader<NewLink>(newConsoleLink, adminSchemas);
const readToken = bodyReader<NewToken>(newToken, adminSchemas);
