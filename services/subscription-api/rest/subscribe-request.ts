import type { Action } from '@waybell/catalog/action';
import { findCallbackUrlFault, type CallbackRules } from '../callback-url.ts';
import type { Wish } from '../subscriptions.ts';
import { invalidBody, isObject, notAnObject, pointTo, unknownMembers } from './body.ts';
import type { Fault } from './problem.ts';

/**
 * Reads the body of a subscribe request (shipper-webhooks, Subscribe request body; carrier-webhooks, Endpoints).
 * Throws a Problem (422) that names everything wrong with it.
 */
export async function readSubscribeRequest(body: unknown, action: Action, rules: CallbackRules): Promise<Wish> {
  if (!isObject(body)) throw invalidBody([notAnObject]);
  const { callback_url: callbackUrl, audit_field_set: auditFieldSet } = body;
  const known = action.interface === 'shipper' ? ['callback_url', 'audit_field_set'] : ['callback_url'];
  const faults = [
    ...unknownMembers(body, known),
    ...(await findUrlFaults(callbackUrl, rules)),
    ...(action.interface === 'shipper' ? findAuditFaults(auditFieldSet, action) : []),
  ];
  if (faults.length > 0) throw invalidBody(faults);
  return {
    action: action.name,
    // Both were just found to have these types.
    callbackUrl: callbackUrl as string,
    auditFieldSet: (auditFieldSet as string[] | undefined) ?? null,
  };
}

async function findUrlFaults(value: unknown, rules: CallbackRules): Promise<Fault[]> {
  const pointer = pointTo('callback_url');
  if (value === undefined) return [{ pointer, detail: 'is required' }];
  if (typeof value !== 'string') return [{ pointer, detail: 'must be a string' }];
  const detail = await findCallbackUrlFault(value, rules);
  return detail === null ? [] : [{ pointer, detail }];
}

function findAuditFaults(value: unknown, { name, auditFields }: Action): Fault[] {
  if (value === undefined) return [];
  const pointer = pointTo('audit_field_set');
  if (auditFields === undefined) return [{ pointer, detail: `is taken by the five revision actions, not by ${name}` }];
  if (!Array.isArray(value)) return [{ pointer, detail: 'must be an array of strings' }];
  return value.flatMap((field: unknown, index) => {
    const place = pointTo('audit_field_set', index);
    if (typeof field !== 'string') return [{ pointer: place, detail: 'must be a string' }];
    if (!auditFields.includes(field)) return [{ pointer: place, detail: `${name} has no field "${field}"` }];
    return value.indexOf(field) < index ? [{ pointer: place, detail: `"${field}" is there twice` }] : [];
  });
}
