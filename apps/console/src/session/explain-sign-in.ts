import * as oauth from 'oauth4webapi';
import { ProblemAnswer } from '../api/problem.ts';

/** Why somebody is not signed in, in a sentence; `issuer` is the host of theirs. */
export function explainSignIn(error: unknown, issuer = 'The issuer'): string {
  if (error instanceof ProblemAnswer && error.kind === 'insufficient-scope')
    return `${error.message} This page needs one with it.`;
  if (error instanceof oauth.AuthorizationResponseError) return `${issuer} did not sign you in: ${said(error)}.`;
  if (error instanceof oauth.ResponseBodyError) return `${issuer} gave no access token: ${said(error)}.`;
  if (error instanceof oauth.OperationProcessingError)
    return `What ${issuer} answered is not accepted: ${error.message}. Sign in again.`;
  return error instanceof Error ? error.message : String(error);
}

// In the issuer's own words: they come from it alone, as the state is looked at before.
const said = ({ error, error_description: more }: { error: string; error_description?: string | undefined }) =>
  more === undefined ? error : `${error} (${more.replace(/\.$/, '')})`;

/** Whether the issuer will not give that however often it is asked. */
export const isRefused = (error: unknown): boolean =>
  error instanceof oauth.ResponseBodyError && error.status < 500 && error.status !== 429;
