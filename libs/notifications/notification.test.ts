import type { Action } from '@waybell/catalog/action';
import { actionKey, actions } from '@waybell/catalog/actions';
import { notificationSchema, revisionNotificationSchema } from '@waybell/catalog/schemas';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { Event } from '@waybell/events/event';
import { type Notification, notify } from './notification.ts';
import { readEvent, type EventReading } from '@waybell/events/read-event';

const ACCOUNT = 'e1e1e1e1-e1e1-4e1e-8e1e-e1e1e1e1e1e1';
const target = { auditFieldSet: null, messageGuid: 'd0d0d0d0-d0d0-5d0d-8d0d-d0d0d0d0d0d0' };
const ajv = new Ajv2020({ strictTypes: false, allowUnionTypes: true, strictNumbers: false });
ajv.addFormat('uuid', /^[0-9a-f-]{36}$/i);
ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/);
ajv.addFormat('date-time', true);

const envelopeOf = (action: Action, payload: unknown = action.example) => ({
  guid: 'f0f0f0f0-f0f0-4f0f-8f0f-f0f0f0f0f0f0',
  interface: action.interface,
  action: action.name,
  occurred_at: '2026-11-20T09:30:00.123456Z',
  parties: Object.fromEntries(action.receivers.map((party) => [party, ACCOUNT])),
  payload,
});

function read(action: Action, envelope: unknown): EventReading {
  const body = Buffer.from(JSON.stringify(envelope));
  return readEvent({ body, routingKey: actionKey(action) }, { maxBytes: 1_048_576, maxDepth: 32 });
}

function eventOf(action: Action): Event {
  const reading = read(action, envelopeOf(action));
  if (reading.kind === 'invalid') throw new Error(reading.detail);
  return reading.event;
}

function parsed(notification: Notification): unknown {
  return notification.kind === 'notification' ? JSON.parse(notification.body.toString()) : notification.reason;
}

describe.each(actions.map((action) => [actionKey(action), action] as const))('notify of %s', (_key, action) => {
  const accepts = ajv.compile(notificationSchema(action));

  test('sends what the schema of its notification says', () => {
    const sent = parsed(notify(eventOf(action))(target));
    expect([accepts(sent), accepts.errors]).toEqual([true, null]);
  });

  test('either refuses a payload, naming a place in it, or sends what the schema says', () => {
    fc.assert(
      fc.property(spoiled(action.example), (payload) => {
        const reading = read(action, envelopeOf(action, payload));
        const said =
          reading.kind === 'invalid' ? `${reading.reason} ${reading.detail}` : parsed(notify(reading.event)(target));
        const isRight =
          typeof said === 'string' ? /^(payload_invalid \/payload.*: .|links_missing$)/.test(said) : accepts(said);
        expect({ said, isRight }).toEqual({ said, isRight: true });
      }),
      { numRuns: 50 },
    );
  });
});

describe('notify in the revision form', () => {
  test.each(actions.flatMap((action) => (action.auditFields ? [[action.name, action] as const] : [])))(
    'sends what the schema of %s says',
    (_name, action) => {
      const accepts = ajv.compile(revisionNotificationSchema(action) ?? {});
      const sent = parsed(notify(eventOf(action))({ ...target, auditFieldSet: action.auditFields ?? [] }));
      expect([accepts(sent), accepts.errors]).toEqual([true, null]);
    },
  );
});

describe('notify', () => {
  test('writes once what plain subscriptions of an event have in common', () => {
    const action = actions.find(({ name }) => name === 'order.paid');
    const announce = action && notify(eventOf(action));
    const bodies = [1, 2].map(() => announce?.(target));
    expect(bodies[0]).toHaveProperty('body');
    expect(bodies[0]).toBe(bodies[1]);
  });

  test('gives every carrier subscription the guid of its own message', () => {
    const action = actions.find((each) => each.interface === 'carrier');
    const announce = action && notify(eventOf(action));
    const guids = ['1', '2'].map((messageGuid) => announce && parsed(announce({ ...target, messageGuid })));
    expect(guids).toMatchObject([{ guid: '1' }, { guid: '2' }]);
  });
});

/** The example with one member, at any depth, replaced, added or taken away. */
function spoiled(example: unknown): fc.Arbitrary<unknown> {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(undefined, null, '', 0, -1.5, true, [], {}, ACCOUNT),
  );
  return fc.tuple(fc.infiniteStream(fc.nat()), value).map(([choices, replacement]) => {
    const copy: unknown = structuredClone(example);
    spoil(copy, choices, replacement);
    return copy;
  });
}

function spoil(node: unknown, choices: Iterator<number>, replacement: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const members = node as Record<string, unknown>; // An array, too, is spoiled by its keys.
  const keys = [...Object.keys(members), ...(Array.isArray(node) ? [] : ['added'])];
  const key = keys[Number(choices.next().value) % Math.max(keys.length, 1)] ?? '0';
  const inner = members[key];
  const goesDeeper = typeof inner === 'object' && inner !== null && Number(choices.next().value) % 3 > 0;
  if (goesDeeper) spoil(inner, choices, replacement);
  else members[key] = replacement;
}
