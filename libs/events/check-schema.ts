import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Action } from '@waybell/catalog/action';
import { actionKey, actions } from '@waybell/catalog/actions';
import { eventSchema } from '@waybell/catalog/schemas';
import type { InvalidReason } from './event.ts';
import { isGuid, isDate, isTimestamp } from './timestamp.ts';

/** The first place at which an event breaks the schema of its action; `place` is a pointer into the envelope. */
export type Breach = { reason: InvalidReason; place: string; message: string };

// Numbers beyond a double read as infinite, and are numbers all the same.
const ajv = new Ajv2020({ strictNumbers: false, strictTypes: false, allowUnionTypes: true });
ajv.addFormat('uuid', isGuid);
ajv.addFormat('date', isDate);
ajv.addFormat('date-time', isTimestamp);
const validators = new Map<string, ValidateFunction>();

/** Compiles every schema, so that no event has to wait for it. */
export function compileSchemas(): void {
  for (const action of actions) validatorOf(action);
}

/** Null when the envelope, as plain JavaScript, keeps the schema of the action that it names. */
export function checkSchema(action: Action, envelope: unknown): Breach | null {
  const validate = validatorOf(action);
  const error = validate(envelope) ? undefined : validate.errors?.[0];
  return error === undefined ? null : breach(error);
}

function validatorOf(action: Action): ValidateFunction {
  const key = actionKey(action);
  const validate = validators.get(key) ?? ajv.compile(eventSchema(action));
  validators.set(key, validate);
  return validate;
}

function breach(error: ErrorObject): Breach {
  const missing: unknown = error.params.missingProperty;
  const place = typeof missing === 'string' ? `${error.instancePath}/${missing}` : error.instancePath;
  return { reason: error.keyword === 'const' ? 'not_ignorable' : reasonAt(place), place, message: messageOf(error) };
}

function reasonAt(place: string): InvalidReason {
  if (place.startsWith('/parties/')) return 'party_missing';
  return place === '/payload' || place.startsWith('/payload/') ? 'payload_invalid' : 'envelope_invalid';
}

const formats: Record<string, string> = {
  uuid: 'must be a guid in UUID format',
  date: 'must be a date of the calendar as yyyy-mm-dd, such as 2026-11-20',
  'date-time': 'must be an RFC 3339 timestamp with at most nine fractional digits, such as 2026-11-20T09:30:00.123456Z',
};

function messageOf(error: ErrorObject): string {
  const params: Record<string, unknown> = error.params;
  switch (error.keyword) {
    case 'required':
      return 'is missing';
    case 'type':
      return `must be ${[params.type].flat().join(' or ')}`;
    case 'format':
      return formats[String(params.format)] ?? `must be a ${String(params.format)}`;
    case 'pattern':
      return 'must be a decimal number, such as 1250.50';
    case 'minItems':
      return 'must have at least one item';
    case 'enum':
      return `must be one of ${JSON.stringify(params.allowedValues)}`;
    case 'const':
      return 'must be left out or false: this action has no .ignored variant';
    case 'maxLength':
      return `must have at most ${String(params.limit)} characters`;
    case 'not':
      return 'must name user_guid or carrier, not both';
    case 'false schema':
      return 'must be renamed: the notification has a member of its own by this name';
    default:
      return error.message ?? error.keyword;
  }
}
