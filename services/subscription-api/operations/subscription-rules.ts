/** Bodies of requests to subscribe, to change subscriptions, and to pause them: their schemas, and the rules of actions and URLs. */
import type { Action } from '@waybell/catalog/action';
import { auditFieldOf } from '@waybell/catalog/audit-fields';
import { momentOf } from '@waybell/events/timestamp';
import type { Static } from 'typebox';
import { readCallbackUrl, type CallbackRules } from '../callback-url.ts';
import { invalidBody, isObject, pointTo } from '../rest/http/body.ts';
import type { Fault, Problem } from '../rest/http/problem.ts';
import type { SubscriptionChange, SubscriptionRequest } from '../subscriptions.ts';
import { chooseActions, featureOff, type ActionChoice } from './find-action.ts';
import type { UnjudgedBody } from './operation.ts';
import { actionPattern, choice, closed, described, list, moment, optional, orNull, text } from './schema.ts';

export const CALLBACK_URL = 'https://receiver.example.com/waybell';

export const callbackUrl = text({
  format: 'uri',
  maxLength: 2_048,
  examples: [CALLBACK_URL],
  description:
    'Where notifications are sent: an absolute https URL (http too where the deployment allows it), without user info and fragment, whose host is not, and does not resolve only to, a private or reserved address.',
});

/** No JSON that is taken here has a NUL. */
const auditFieldSet = orNull(list(text({ pattern: String.raw`^[^\u0000]*$` }), { maxItems: 100 }));

export const change = closed({
  callback_url: optional(callbackUrl),
  audit_field_set: optional(
    described(
      auditFieldSet,
      'As with subscribing: only for the revision actions. Null is the plain form; left out, it stays as it is.',
    ),
  ),
  is_active: optional(
    choice([true], 'Switches it on again where it was switched off. To have its deliveries wait, pause it.'),
  ),
});

/** Subscriptions to many actions. */
export const desired = closed({
  callback_url: callbackUrl,
  actions: list(actionPattern(), {
    minItems: 1,
    maxItems: 100,
    description:
      'Names of actions, in which `*` is any text: `order.*`. It stands for what the account can have: neither deprecated actions nor those of a feature that is not enabled.',
  }),
  audit_field_set: optional(
    described(
      auditFieldSet,
      'Each revision action among them takes the fields that it has; if it has none of them, its form is the plain one. The other actions ignore it. Null, or left out: the plain form.',
    ),
  ),
  is_active: optional(choice([true], 'Switches those on again that were switched off. Else they stay off.')),
});

export const pause = closed({
  until: optional(
    moment('As long as a delivery may wait (`DELIVERY_MAX_AGE`) at most; that long where it is left out.'),
  ),
});

/**
 * Reads the body of a request to subscribe (shipper-webhooks, Subscribe request body; carrier-webhooks, Endpoints). Throws a Problem (422)
 * that names everything wrong with it, as the others do.
 */
export async function readSubscribe(
  body: UnjudgedBody<{ callback_url: string; audit_field_set?: string[] | null }>,
  action: Action,
  rules: CallbackRules,
): Promise<SubscriptionRequest> {
  const given = isObject(body.value) ? body.value : {};
  const { url = '', faults } = await readUrl(given['callback_url'], rules);
  const ofAudit = action.interface === 'shipper' ? findAuditFaults(given['audit_field_set'], action) : [];
  const { audit_field_set: audited = null } = body.fitting([...faults, ...ofAudit]);
  return { action: action.name, callbackUrl: url, auditFieldSet: action.auditFields === undefined ? null : audited };
}

/** Reads the `callback_url` of a body; neither a URL nor a fault if it is no text, which is a fault by the schema. */
async function readUrl(given: unknown, rules: CallbackRules): Promise<{ url?: string; faults: Fault[] }> {
  if (typeof given !== 'string') return { faults: [] };
  const read = await readCallbackUrl(given, rules);
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

/** Reads the body of a change of a subscription to this action. */
export async function readChange(
  body: UnjudgedBody<Static<typeof change>>,
  action: Action,
  rules: CallbackRules,
): Promise<SubscriptionChange> {
  const asked = body.fitting(faultsOfSwitch(body.value));
  const { audit_field_set: audited, is_active: isActive = false } = asked;
  const { url, faults } = await readUrl(asked.callback_url, rules);
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

/** Reads the body of a request for subscriptions to many actions. */
export async function readPut(
  body: UnjudgedBody<Static<typeof desired>>,
  { rules, ...context }: Omit<ActionChoice, 'patterns'> & { rules: CallbackRules },
): Promise<PutRequest> {
  const asked = body.fitting(faultsOfSwitch(body.value));
  const { actions: patterns, is_active: isActive = false } = asked;
  const audited = asked.audit_field_set ?? undefined;
  const { url = '', faults } = await readUrl(asked.callback_url, rules);
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

/** Reads until when to pause. A pause lasts as long as a delivery may wait, at most. */
export function readUntil({ until }: Static<typeof pause>, { maxAgeMs, now }: { maxAgeMs: number; now: number }): Date {
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
