import { randomUUID } from 'node:crypto';
import type { Action } from '@waybell/catalog/action';
import { exampleEvent } from '@waybell/contracts/example-event';
import { triggerRequest } from '@waybell/contracts/openapi/trigger-paths';
import type { Event, Invalid } from '@waybell/events/event';
import { isObject, toPlain, writeJson, type JsonObject, type JsonValue } from '@waybell/events/json';
import type { EventLimits } from '@waybell/events/read-event';
import type { Caller } from '../authentication/authenticate.ts';
import { bodyFaults, invalidBody, pointTo } from '../http/body.ts';
import type { Fault, Problem } from '../http/problem.ts';
import { setAt, stepsOf } from './set-at.ts';

export type TriggerBody = { action: string; set: JsonObject; isEverywhere: boolean };

const faultsOf = bodyFaults(triggerRequest);
/** Members of an event that a trigger may set: not its receivers, nor its action. */
const SETTABLE = new Set(['payload', 'occurred_at', 'error_message']);

/** Reads the body of a trigger, numbers digit for digit. Throws a Problem (422) that names everything wrong with it. */
export function readTrigger(body: JsonValue): TriggerBody {
  const faults = faultsOf(toPlain(body));
  const { action, set: given, everywhere } = isObject(body) ? body : {};
  const set = isObject(given) ? given : {};
  faults.push(...Object.keys(set).flatMap(faultsOfPointer));
  if (faults.length > 0 || typeof action !== 'string') throw invalidBody(faults);
  return { action, set, isEverywhere: everywhere === true };
}

function faultsOfPointer(pointer: string): Fault[] {
  const [first] = stepsOf(pointer) ?? [];
  if (first !== undefined && SETTABLE.has(first)) return [];
  const detail = `must be a JSON pointer to a place in ${[...SETTABLE].map((name) => `/${name}`).join(', ')}`;
  return [{ pointer: pointTo('set', pointer), detail }];
}

/**
 * The example event of the action, as if it happened now to the caller, with what is set in it: read as the line reads
 * events. Throws a Problem (422) that names the place where it breaks the contract.
 */
export async function makeEvent(
  { set }: Pick<TriggerBody, 'set'>,
  { action, caller, limits }: { action: Action; caller: Pick<Caller, 'accountGuid'>; limits: EventLimits },
): Promise<Event> {
  const parties = Object.fromEntries(action.receivers.map((party) => [party, caller.accountGuid]));
  // The catalog's example is JSON.
  let event = {
    ...exampleEvent(action),
    guid: randomUUID(),
    occurred_at: new Date().toISOString(),
    parties,
  } as JsonValue;
  for (const [pointer, value] of Object.entries(set)) {
    const setting = setAt(event, stepsOf(pointer) ?? [], value);
    if (setting.kind === 'fault') throw invalidBody([{ pointer: pointTo('set', pointer), detail: setting.detail }]);
    event = setting.value;
  }
  // Few processes are ever asked, and the schemas of all events take their time and room.
  const { readEvent } = await import('@waybell/events/read-event');
  const reading = readEvent({ body: Buffer.from(writeJson(event)) }, limits);
  if (reading.kind === 'invalid') throw notAnEvent(reading, Object.keys(set));
  return reading.event;
}

/** Names what was set there, if anything was. */
function notAnEvent({ reason, detail, place = '' }: Invalid, pointers: readonly string[]): Problem {
  const set = pointers.find((pointer) => `${place}/`.startsWith(`${pointer}/`));
  return invalidBody([
    { pointer: pointTo('set', ...(set === undefined ? [] : [set])), detail: `${reason}: ${detail}` },
  ]);
}
