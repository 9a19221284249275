import type { Action } from '@waybell/catalog/action';
import { auditFieldOf } from '@waybell/catalog/audit-fields';
import { pauseRequest, subscriptionChange, desiredSubscriptions } from '@waybell/contracts/openapi/subscription-paths';
import { momentOf } from '@waybell/events/timestamp';
import type { CallbackRules } from '../../callback-url.ts';
import type { SubscriptionChange, SubscriptionRequest } from '../../subscriptions.ts';
import { bodyFaults, bodyReader, invalidBody, isObject, pointTo } from '../http/body.ts';
import type { Fault, Problem } from '../http/problem.ts';
import { chooseActions, type ActionChoice } from './choose-actions.ts';
import { featureOff } from './find-action.ts';
import { findAuditFaults, readUrl } from './subscribe-request.ts';

// Each throws a Problem (422) that names everything wrong with what it reads.

type ChangeBody = { callback_url?: string; audit_field_set?: string[] | null; is_active?: true };
type PutBody = ChangeBody & { callback_url: string; actions: string[] };

const faultsOfChange = bodyFaults(subscriptionChange);
const faultsOfPut = bodyFaults(desiredSubscriptions);
const readPause = bodyReader<{ until?: string }>(pauseRequest);

/** Reads the body of a change of a subscription to this action. */
export async function readChange(body: unknown, action: Action, rules: CallbackRules): Promise<SubscriptionChange> {
  const ofSchema = [...faultsOfChange(body), ...faultsOfSwitch(body)];
  if (ofSchema.length > 0) throw invalidBody(ofSchema);
  // The body fits the schema.
  const { callback_url: callbackUrl, audit_field_set: audited, is_active: isActive = false } = body as ChangeBody;
  const { url, faults } = await readUrl(callbackUrl, rules);
  if (audited !== null) faults.push(...findAuditFaults(audited, action));
  if (faults.length > 0) throw invalidBody(faults);
  const takesFields = action.auditFields !== undefined && audited !== undefined;
  return { isActive, ...(url !== undefined && { callbackUrl: url }), ...(takesFields && { auditFieldSet: audited }) };
}

/** A request to change subscriptions: one for each action, and the named actions that were refused. */
export type PutRequest = {
  isActive: boolean;
  wanted: SubscriptionRequest[];
  refused: { action: string; problem: Problem }[];
};

export type PutContext = Omit<ActionChoice, 'patterns'> & { rules: CallbackRules };

/** Reads the body of a request for subscriptions to many actions. */
export async function readPutRequest(body: unknown, { rules, ...context }: PutContext): Promise<PutRequest> {
  const ofSchema = [...faultsOfPut(body), ...faultsOfSwitch(body)];
  if (ofSchema.length > 0) throw invalidBody(ofSchema);
  // The body fits the schema.
  const { callback_url, actions: patterns, is_active: isActive = false, ...asked } = body as PutBody;
  const audited = asked.audit_field_set ?? undefined;
  const { url = '', faults } = await readUrl(callback_url, rules);
  const { chosen, faults: ofActions } = chooseActions({ ...context, patterns });
  faults.push(...ofActions, ...faultsOfFields(audited, chosen));
  if (faults.length > 0) throw invalidBody(faults);
  const refused = chosen.flatMap((action) => {
    const problem = featureOff(action, context.caller);
    return problem === undefined ? [] : [{ action: action.name, problem }];
  });
  const wanted = chosen
    .filter((action) => featureOff(action, context.caller) === undefined)
    .map((action) => ({ action: action.name, callbackUrl: url, auditFieldSet: fieldsFor(action, audited) }));
  return { isActive, wanted, refused };
}

/** Reads the body of a request to pause: until when. A pause lasts as long as a delivery may wait, at most. */
export function readUntil(body: unknown, { maxAgeMs, now }: { maxAgeMs: number; now: number }): Date {
  const { until } = readPause(body);
  const untilMs = until === undefined ? now + maxAgeMs : momentOf(until);
  if (untilMs > now && untilMs <= now + maxAgeMs) return new Date(untilMs);
  const latest = new Date(now + maxAgeMs).toISOString();
  throw invalidBody([{ pointer: pointTo('until'), detail: `must be in the future, and not after ${latest}` }]);
}

function faultsOfSwitch(body: unknown): Fault[] {
  if (!isObject(body) || body['is_active'] !== false) return [];
  const detail = 'cannot be false: pause the subscription to have its deliveries wait, or unsubscribe to end it';
  return [{ pointer: pointTo('is_active'), detail }];
}

/** Each name is of a field of one of the actions that take any. */
function faultsOfFields(audited: string[] | undefined, chosen: readonly Action[]): Fault[] {
  const taking = chosen.flatMap(({ auditFields }) => auditFields ?? []);
  return findAuditFaults(audited, { name: 'these actions', ...(taking.length > 0 && { auditFields: taking }) });
}

/** Returns the fields that the action has; null, the plain form, if it has none of them. */
function fieldsFor({ auditFields = [] }: Action, audited: string[] | undefined): string[] | null {
  const own = audited?.filter((field) => auditFields.includes(auditFieldOf(field))) ?? [];
  return own.length > 0 || (audited?.length === 0 && auditFields.length > 0) ? own : null;
}
