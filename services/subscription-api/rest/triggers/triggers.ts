/** Triggers: an event that never happened, made from the catalog's example, goes to the client's own subscriptions as a test. */
import { randomUUID } from 'node:crypto';
import { Router } from 'express';
import type { Interface, Action } from '@waybell/catalog/action';
import { exampleEvent } from '@waybell/contracts/example-event';
import { triggerRequest } from '../../operations/trigger-paths.ts';
import type { Event, Invalid } from '@waybell/events/event';
import {
  isObject,
  toPlain,
  writeJson,
  isArray,
  objectOf,
  pointerTo,
  type JsonObject,
  type JsonValue,
} from '@waybell/events/json';
import type { EventLimits } from '@waybell/events/read-event';
import { notify } from '@waybell/notifications/notification';
import { askForTrigger, type TriggerRefusal } from '../../by-hand/trigger.ts';
import { requireScope, type Caller } from '../authentication/authenticate.ts';
import { stoppedProblem } from '../deliveries/by-hand.ts';
import { readExactJson, bodyFaults, invalidBody, pointTo } from '../http/body.ts';
import { Problem, type Fault } from '../http/problem.ts';
import { answerObject, addPath, type RouteOptions } from '../http/routes.ts';
import { listActions, requireFeature, type ActionList } from '../../operations/find-action.ts';

export type TriggerOptions = Pick<RouteOptions, 'authenticate' | 'database' | 'catalog'> & { eventLimits: EventLimits };

/** The route that sends such events, the same on either interface. */
export function triggerRoutes({ authenticate, database, catalog, eventLimits: limits }: TriggerOptions): Router {
  const router = Router({ caseSensitive: true });
  const actions: Record<Interface, ActionList> = {
    shipper: listActions('shipper', catalog),
    carrier: listActions('carrier', catalog),
  };

  addPath(router, ['/v1/triggers'], {
    async post(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:write');
      const trigger = readTrigger(await readExactJson(request, response));
      const action = actions[caller.interface].find(trigger.action, response);
      requireFeature(action, caller);
      const event = await makeEvent(trigger, { action, caller, limits });
      const client = { account: caller.accountGuid, client: caller.clientId, interface: caller.interface };
      const asked = await database.change(caller.actor, (postgres) =>
        askForTrigger(postgres, {
          event: event.guid,
          action: event.action.name,
          client,
          isEverywhere: trigger.isEverywhere,
          by: caller.actor.who,
          bodyFor: notify(event),
        }),
      );
      if (asked.kind === 'refused') throw refused(asked, action.name);
      const { deliveries, suppressed } = asked;
      answerObject(caller, response.status(202), {
        event_guid: event.guid,
        unknown_members: event.unknownMembers.places,
        deliveries: deliveries.map(({ delivery, ...to }) => ({ delivery_guid: delivery, ...toView(to) })),
        suppressed: suppressed.map(({ reason, ...to }) => ({ reason, ...toView(to) })),
      });
    },
  });

  return router;
}

const toView = ({ subscription, isListener }: { subscription: string; isListener: boolean }) => ({
  subscription_guid: subscription,
  is_listener: isListener,
});

function refused(refusal: TriggerRefusal, action: string): Problem {
  switch (refusal.why) {
    case 'stopped':
      return stoppedProblem(refusal.stop);
    case 'unsubscribed':
      return new Problem(
        'nobody-subscribed',
        `This client is not subscribed to ${action}: subscribe first, or start "./waybell listen".`,
      );
    case 'other_actions':
      return new Problem(
        'nobody-subscribed',
        `The listener that runs does not take ${action}: start one that does, or ask for it "everywhere".`,
      );
  }
}

type TriggerBody = { action: string; set: JsonObject; isEverywhere: boolean };

const faultsOf = bodyFaults(triggerRequest);
/** Members of an event that a trigger may set: not its receivers, nor its action. */
const SETTABLE = new Set(['payload', 'occurred_at', 'error_message']);

/** Reads the body of a trigger, numbers digit for digit. Throws a Problem (422) that names everything wrong with it. */
function readTrigger(body: JsonValue): TriggerBody {
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
async function makeEvent(
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
  // Few processes are ever asked, and the schemas of all events take time and memory.
  const { readEvent } = await import('@waybell/events/read-event');
  const reading = readEvent({ body: Buffer.from(writeJson(event)) }, limits);
  if (reading.kind === 'invalid') throw notAnEvent(reading, Object.keys(set));
  return reading.event;
}

/** The answer to an event that breaks the contract: names the member that was set there, if one was. */
function notAnEvent({ reason, detail, place = '' }: Invalid, pointers: readonly string[]): Problem {
  const set = pointers.find((pointer) => `${place}/`.startsWith(`${pointer}/`));
  return invalidBody([
    { pointer: pointTo('set', ...(set === undefined ? [] : [set])), detail: `${reason}: ${detail}` },
  ]);
}

/** The value with another at a place, or why there can be none. */
type SetAtResult = { kind: 'set'; value: JsonValue } | { kind: 'fault'; detail: string };

const MOST_STEPS = 32;

/** Returns the names in a JSON pointer (RFC 6901); undefined if it is none, or has more of them than any event. */
export function stepsOf(pointer: string): string[] | undefined {
  if (!/^(\/([^~/]|~[01])*)+$/u.test(pointer)) return undefined;
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.length > MOST_STEPS ? undefined : steps;
}

/**
 * Puts a value at the end of these steps. What is missing on the way is made: a list where its first item is named, else an object. A
 * list takes one more item at its end.
 */
export function setAt(
  found: JsonValue | undefined,
  [step, ...others]: readonly string[],
  value: JsonValue,
): SetAtResult {
  if (step === undefined) return { kind: 'set', value };
  const within = found === undefined ? missing(step) : found;
  if (isArray(within)) {
    const isIndex = /^(0|[1-9]\d{0,5})$/.test(step) && Number(step) <= within.length;
    if (!isIndex) return { kind: 'fault', detail: `there is a list of ${within.length}: name an item by its number` };
    const inner = setAt(within[Number(step)], others, value);
    return inner.kind === 'fault' ? inner : { kind: 'set', value: within.toSpliced(Number(step), 1, inner.value) };
  }
  if (!isObject(within))
    return { kind: 'fault', detail: `there is no object or list that could have ${pointerTo(step)}` };
  const members = new Map(Object.entries(within));
  const inner = setAt(members.get(step), others, value);
  return inner.kind === 'fault' ? inner : { kind: 'set', value: objectOf(members.set(step, inner.value)) };
}

const missing = (step: string): JsonValue => (step === '0' ? [] : {});
