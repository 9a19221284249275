import type { Action } from '@waybell/catalog/action';
import { auditFieldOf } from '@waybell/catalog/audit-fields';
import { subscribeRequests } from '@waybell/contracts/openapi/components';
import { readCallbackUrl, type CallbackRules } from '../../callback-url.ts';
import type { SubscriptionRequest } from '../../subscriptions.ts';
import { bodyFaults, invalidBody, isObject, pointTo } from '../http/body.ts';
import type { Fault } from '../http/problem.ts';

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
    // It was just found to have this type. Elsewhere than with revisions it is none.
    auditFieldSet: action.auditFields === undefined ? null : ((auditFieldSet as string[] | undefined) ?? null),
  };
}

/** Reads the `callback_url` of a body; neither a URL nor a fault where it is no text, which its schema tells. */
export async function readUrl(text: unknown, rules: CallbackRules): Promise<{ url?: string; faults: Fault[] }> {
  if (typeof text !== 'string') return { faults: [] };
  const read = await readCallbackUrl(text, rules);
  return 'url' in read
    ? { url: read.url, faults: [] }
    : { faults: [{ pointer: pointTo('callback_url'), detail: read.fault }] };
}

const isNone = (value: unknown): boolean => value === null || (Array.isArray(value) && value.length === 0);

/** Finds faults of an `audit_field_set`. */
export function findAuditFaults(value: unknown, { name, auditFields }: Pick<Action, 'name' | 'auditFields'>): Fault[] {
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
