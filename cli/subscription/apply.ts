import { ApiProblem, type ClientApi } from '../client-api.ts';
import type { SubscriptionAnswer } from './describe-subscription.ts';
import type { DesiredSubscriptions } from './read-desired.ts';

/** The API's answer for each action. */
export type PutAnswer = {
  action: string;
  result: 'created' | 'changed' | 'unchanged' | 'refused';
  subscription?: SubscriptionAnswer;
  problem?: { detail: string };
};

/** The answer to a test, or to a replay. */
type TestAnswer = { status: string; attempts: { reason?: string }[] };

/** Creates or changes subscriptions, and returns the result for each action. */
export async function put(api: ClientApi, entry: DesiredSubscriptions): Promise<PutAnswer[]> {
  const { objects } = (await api.ask('PUT', '/v1/subscriptions', JSON.stringify(entry))) as { objects: PutAnswer[] };
  return objects;
}

/**
 * Tests a subscription that is off; if its receiver answers, switches it on and starts a replay of its missed deliveries. Prints
 * each step. Resolves with whether it is on.
 */
export async function keep(
  api: ClientApi,
  subscription: SubscriptionAnswer,
  tell: (what: string) => void,
): Promise<boolean> {
  const { guid, action } = subscription;
  const found = subscription.is_active ? subscription : await switchOn(api, subscription, tell);
  if (found?.missed === undefined) return found !== undefined;
  const asked = JSON.stringify({ subscription_guid: guid, missed: true });
  try {
    const { total } = (await api.ask('POST', '/v1/replays', asked)) as { total: number };
    tell(`${action}: ${total} replayed, missed from ${found.missed.since} on`);
  } catch (error) {
    // Another has asked for it, or the delivery log knows of nothing.
    if (!(error instanceof ApiProblem && error.kind === 'nothing-missed')) throw error;
  }
  return true;
}

/** Resolves with it as it is on; undefined if it stays off. */
async function switchOn(
  api: ClientApi,
  { guid, action }: SubscriptionAnswer,
  tell: (what: string) => void,
): Promise<SubscriptionAnswer | undefined> {
  const failure = await testFailure(api, guid);
  if (failure !== undefined) {
    tell(`${action}: stays off, as its test failed: ${failure}`);
    return undefined;
  }
  const path = `/v1/subscriptions/${guid}`;
  const on = (await api.ask('PATCH', path, JSON.stringify({ is_active: true }))) as SubscriptionAnswer;
  tell(`${action}: its receiver answers, and it is on again`);
  return on;
}

/** Kinds of problems that are to be tried again later. */
const UNTESTED: readonly unknown[] = ['stopped', 'under-way'];

/** Has an example sent to it. Resolves with why that did not arrive; undefined if it did. */
export async function testFailure(api: ClientApi, guid: string): Promise<string | undefined> {
  try {
    const { status, attempts } = (await api.ask('POST', `/v1/subscriptions/${guid}/test`)) as TestAnswer;
    return status === 'delivered' ? undefined : (attempts.at(-1)?.reason ?? status);
  } catch (error) {
    if (error instanceof ApiProblem && (UNTESTED.includes(error.kind) || error.status === 503)) return error.message;
    throw error;
  }
}
