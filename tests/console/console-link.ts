import { createConsoleLink } from '@waybell/subscription-api/console-links';
import { stack } from './stand.ts';

/** A link that opens the console once for a client of the account, from the root of the API on. */
export async function aLink(accountGuid: string, more: { scopes?: ['webhooks:write'] } = {}): Promise<string> {
  const { path } = await createConsoleLink(stack.postgres, { accountGuid, ...more });
  return path;
}
