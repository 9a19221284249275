import { parse } from 'yaml';
import { matchesPattern } from '@waybell/catalog/names';
import { desired } from '@waybell/subscription-api/operations/subscription-rules';
import { nodeOf } from '@waybell/subscription-api/operations/schema';
import { schemaFaults } from '@waybell/subscription-api/rest/http/request-schema';
import { ApiProblem, type ClientApi } from '../client-api.ts';
import type { SubscriptionAnswer } from './describe-subscription.ts';

/** Subscriptions to have, as the API takes them. */
export type DesiredSubscriptions = { callback_url: string; actions: string[]; audit_field_set?: string[] | null };

/** The API's answer for each action. */
export type PutAnswer = {
  action: string;
  result: 'created' | 'changed' | 'unchanged' | 'refused';
  subscription?: SubscriptionAnswer;
  problem?: { detail: string };
};

/** The answer to a test, or to a replay. */
type TestAnswer = { status: string; attempts: { reason?: string }[] };

/** Kinds of problems that are to be tried again later. */
const UNTESTED: readonly unknown[] = ['stopped', 'under-way'];

// Whether to switch on is said by the command.
const { is_active: _isActive, ...properties } = desired.properties;
const faultsOf = schemaFaults({ ...nodeOf(desired), properties });

/** Reads a file of subscriptions to have, YAML or JSON: one entry, or a list. Throws an Error that names every fault. */
export function readDesired(text: string, file: string): DesiredSubscriptions[] {
  const parsed = parsedOf(text, file);
  const entries = Array.isArray(parsed) ? parsed : [parsed];
  const faults = entries.flatMap((entry: unknown, index) =>
    faultsOf(entry).map(({ path, detail }) => {
      const place = [...(Array.isArray(parsed) ? [index] : []), ...path].join('.');
      return `${file}: ${place === '' ? 'it' : place} ${detail}`;
    }),
  );
  if (entries.length === 0) faults.push(`${file}: it is an empty list`);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  // Each entry fits the schema.
  return entries as DesiredSubscriptions[];
}

function parsedOf(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    const hint = fault.startsWith('Alias ') ? "\nYAML takes what begins with * for an alias: write '*', in quotes" : '';
    throw new Error(`${file}: ${fault.trim()}${hint}`, { cause: error });
  }
}

/** Throws if two entries choose the same action: each run would change it twice. */
export function requireDistinct(entries: readonly DesiredSubscriptions[], names: readonly string[]): void {
  const twice = names.flatMap((name) => {
    const places = entries.flatMap(({ actions }, at) =>
      actions.some((each) => matchesPattern(name, each)) ? [at] : [],
    );
    return places.length < 2 ? [] : [`${name} is chosen by ${places.map((at) => `${at}.actions`).join(' and ')}`];
  });
  if (twice.length > 0) throw new Error(`an action has one subscription, with one URL:\n${twice.join('\n')}`);
}

/** Creates or changes subscriptions, and returns the result for each action. */
export async function putSubscriptions(api: ClientApi, entry: DesiredSubscriptions): Promise<PutAnswer[]> {
  const { objects } = (await api.ask('PUT', '/v1/subscriptions', JSON.stringify(entry))) as { objects: PutAnswer[] };
  return objects;
}

/**
 * Tests a subscription that is off; if its receiver answers, switches it on and starts a replay of its missed deliveries. Prints
 * each step. Resolves with whether it is on.
 */
export async function keepOn(
  api: ClientApi,
  subscription: SubscriptionAnswer,
  report: (what: string) => void,
): Promise<boolean> {
  const { guid, action } = subscription;
  const found = subscription.is_active ? subscription : await switchOn(api, subscription, report);
  if (found?.missed === undefined) return found !== undefined;
  const body = JSON.stringify({ subscription_guid: guid, missed: true });
  try {
    const { total } = (await api.ask('POST', '/v1/replays', body)) as { total: number };
    report(`${action}: ${total} replayed, missed from ${found.missed.since} on`);
  } catch (error) {
    // Another caller has requested it, or the delivery log knows of nothing.
    if (!(error instanceof ApiProblem && error.kind === 'nothing-missed')) throw error;
  }
  return true;
}

/** Resolves with it as it is on; undefined if it stays off. */
async function switchOn(
  api: ClientApi,
  { guid, action }: SubscriptionAnswer,
  report: (what: string) => void,
): Promise<SubscriptionAnswer | undefined> {
  const failure = await testFailure(api, guid);
  if (failure !== undefined) {
    report(`${action}: stays off, as its test failed: ${failure}`);
    return undefined;
  }
  const path = `/v1/subscriptions/${guid}`;
  const on = (await api.ask('PATCH', path, JSON.stringify({ is_active: true }))) as SubscriptionAnswer;
  report(`${action}: its receiver answers, and it is on again`);
  return on;
}

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
