/** Reads bodies of requests to subscribe, to change subscriptions, and to pause them, by their schemas and by rules of actions and URLs. */
import type { Action } from '@waybell/catalog/action';
import { auditFieldOf } from '@waybell/catalog/audit-fields';
import { subscribeRequests } from '@waybell/contracts/openapi/components';
import { pauseRequest, subscriptionChange, desiredSubscriptions } from '@waybell/contracts/openapi/subscription-paths';
import { momentOf } from '@waybell/events/timestamp';
import { readCallbackUrl, type CallbackRules } from '../../callback-url.ts';
import type { SubscriptionRequest, SubscriptionChange } from '../../subscriptions.ts';
import { bodyFaults, invalidBody, isObject, pointTo, bodyReader } from '../http/body.ts';
import type { Fault, Problem } from '../http/problem.ts';
import { chooseActions, featureOff, type ActionChoice } from './find-action.ts';

const faultsOf = { shipper: bodyFaults(subscribeRequests.shipper), carrier: bodyFaults(subscribeRequests.carrier) };

/**
 * Reads the body of a subscribe request (shipper-webhooks, Subscribe request body; carrier-webhooks, Endpoints).
 * Throws a Problem (422) that names everything wrong with it.
 */
export async function readSubscribeRequest(
  body: unknown,
  action: Action,
  rules: CallbackRules,
): Promise<SubscriptionRequest> {
  const { callback_url: callbackUrl, audit_field_set: auditFieldSet } = isObject(body) ? body : {};
  const { url = '', faults: ofUrl } = await readUrl(callbackUrl, rules);
  const ofAudit = action.interface === 'shipper' ? findAuditFaults(auditFieldSet, action) : [];
  const faults = [...faultsOf[action.interface](body), ...ofUrl, ...ofAudit];
  if (faults.length > 0) throw invalidBody(faults);
  return {
    action: action.name,
    callbackUrl: url,
    // It was just found to have this type. An action without revisions has none.
    auditFieldSet: action.auditFields === undefined ? null : ((auditFieldSet as string[] | undefined) ?? null),
  };
}

/** Reads the `callback_url` of a body; neither a URL nor a fault if it is no text, which is a fault by the schema. */
async function readUrl(text: unknown, rules: CallbackRules): Promise<{ url?: string; faults: Fault[] }> {
  if (typeof text !== 'string') return { faults: [] };
  const read = await readCallbackUrl(text, rules);
  return 'url' in read
    ? { url: read.url, faults: [] }
    : { faults: [{ pointer: pointTo('callback_url'), detail: read.fault }] };
}

const isNone = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0);

/** Finds faults of an `audit_field_set`. */
function findAuditFaults(value: unknown, { name, auditFields }: Pick<Action, 'name' | 'auditFields'>): Fault[] {
  if (value === undefined) return [];
  const pointer = pointTo('audit_field_set');
  if (auditFields === undefined && isNone(value)) return [];
  if (auditFields === undefined) return [{ pointer, detail: `is taken by the five revision actions, not by ${name}` }];
  if (!Array.isArray(value)) return [{ pointer, detail: 'must be an array of strings' }];
  const names = value.map((field: unknown) => (typeof field === 'string' ? auditFieldOf(field) : field));
  return value.flatMap((field: unknown, index) => {
    const place = pointTo('audit_field_set', index);
    if (typeof field !== 'string') return [{ pointer: place, detail: 'must be a string' }];
    const listed = auditFieldOf(field);
    if (!auditFields.includes(listed)) return [{ pointer: place, detail: `"${field}" is no field of ${name}` }];
    return names.indexOf(listed) < index ? [{ pointer: place, detail: `"${field}" is there twice` }] : [];
  });
}

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
type PutRequest = {
  isActive: boolean;
  wanted: SubscriptionRequest[];
  refused: { action: string; problem: Problem }[];
};

type PutContext = Omit<ActionChoice, 'patterns'> & { rules: CallbackRules };

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
  const fields = audited?.filter((field) => auditFields.includes(auditFieldOf(field))) ?? [];
  return fields.length > 0 || (audited?.length === 0 && auditFields.length > 0) ? fields : null;
}
