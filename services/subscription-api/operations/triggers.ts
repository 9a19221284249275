/** Triggers: an event that never happened, made from the catalog's example, goes to the client's own subscriptions as a test. */
import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import type { Action } from '@waybell/catalog/action';
import { exampleEvent } from '@waybell/contracts/example-event';
import type { Event, Invalid } from '@waybell/events/event';
import {
  isArray,
  isObject,
  objectOf,
  pointerTo,
  writeJson,
  type JsonObject,
  type JsonValue,
} from '@waybell/events/json';
import type { EventLimits } from '@waybell/events/read-event';
import { notify } from '@waybell/notifications/notification';
import { askForTrigger, type TriggerRefusal } from '../by-hand/trigger.ts';
import { clientOf, type Caller } from '../rest/authentication/authenticate.ts';
import { invalidBody, pointTo } from '../rest/http/body.ts';
import { Problem, type Fault } from '../rest/http/problem.ts';
import { stoppedProblem } from './by-hand.ts';
import { requireFeature } from './find-action.ts';
import { byGuid, one, operationsOf } from './operation.ts';
import { actionName, closed, component, flag, guid, list, object, optional, text } from './schema.ts';
import type { ClientServices } from './services.ts';

const to = { subscription_guid: guid(), is_listener: flag('Whether it is of a listener of the client.') };

const Trigger = component(
  'Trigger',
  object({
    event_guid: guid(),
    unknown_members: list(
      text(),
      'Places that the contract does not know: notifications of most actions leave them out.',
    ),
    deliveries: list(object({ delivery_guid: guid('As `webhook-id`.'), ...to })),
    suppressed: list(
      object({ reason: text({ examples: ['links_missing'] }), ...to }),
      'Subscriptions that get nothing of such an event.',
    ),
  }),
);

const triggerRequest = closed({
  action: actionName({ examples: ['order.created'] }),
  set: optional(
    Type.Unsafe<JsonObject>({
      type: 'object',
      maxProperties: 100,
      examples: [{ '/payload/id': 4711 }],
      description:
        'What is to be another than in the example, by JSON pointers into the event: places in `/payload`, `/occurred_at` and `/error_message`. Numbers go as they are written.',
    }),
  ),
  everywhere: optional(
    flag({
      default: false,
      description: "Whether the client's own subscription gets it although a listener runs.",
    }),
  ),
});

const operation = operationsOf<Pick<ClientServices, 'database' | 'actionsOf' | 'eventLimits'>>();

export const triggerOperations = [
  operation({
    method: 'post',
    path: '/v1/triggers',
    id: 'trigger',
    tag: 'Resend and replay',
    summary: 'Have an example event sent to your own subscriptions',
    description:
      "The example of the action, as if it happened now, is checked as the platform's events are and sent to the listeners of the client, or, where none runs or `everywhere` is set, to its own subscription, also while that is switched off or paused: signed and retried as any other, with the header `X-Webhook-Test: true`. It counts for no deactivation.",
    scope: 'webhooks:write',
    namesAction: true,
    body: { schema: triggerRequest, isExact: true, isUnjudged: true },
    answers: {
      202: one('It will be sent within a second or so.', Trigger, byGuid('/deliveries/0/delivery_guid', 'getDelivery')),
    },
    problems: ['feature-off', 'nobody-subscribed', 'stopped'],
    async handle({ caller, body, response, services: { database, actionsOf, eventLimits } }) {
      const given = isObject(body.value) ? body.value['set'] : undefined;
      const pointers = isObject(given) ? Object.keys(given) : [];
      const { action: name, set = {}, everywhere = false } = body.fitting(pointers.flatMap(faultsOfPointer));
      const action = actionsOf[caller.interface].find(name, response);
      requireFeature(action, caller);
      const event = await makeEvent(set, { action, caller, limits: eventLimits });
      const asked = await database.change(caller.actor, (postgres) =>
        askForTrigger(postgres, {
          event: event.guid,
          action: event.action.name,
          client: clientOf(caller),
          isEverywhere: everywhere,
          by: caller.actor.who,
          bodyFor: notify(event),
        }),
      );
      if (asked.kind === 'refused') throw refused(asked, action.name);
      return { ...asked, event: event.guid, unknownMembers: event.unknownMembers.places };
    },
  }),
];

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

/** Members of an event that a trigger may set: not its receivers, nor its action. */
const SETTABLE = new Set(['payload', 'occurred_at', 'error_message']);

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
  set: JsonObject,
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
