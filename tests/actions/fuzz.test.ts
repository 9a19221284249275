import { env } from 'node:process';
import { readDelivery } from '@waybell/line/delivery';
import type { Message, Outgoing } from '@waybell/line/messages';
import { causedBy } from '@waybell/line/testing/handled';
import { readArrival, routeEvents } from '@waybell/event-router/route-event';
import { findAction } from '@waybell/catalog/actions';
import { notificationSchema, revisionNotificationSchema } from '@waybell/catalog/schemas';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { anAudience, type Audience, audienceKey } from './generate/audience.ts';
import { Dice } from './generate/dice.ts';
import { anEvent } from './generate/event.ts';
import { type Broken, brokenFrom, clothesOf, faultNames, rowAt } from './generate/broken.ts';
import { messageOf, type Published, varied } from './generate/message.ts';
import { MAX_BYTES } from './generate/message-faults.ts';
import { actionTable } from './oracle/action-table.ts';

const firstSeed = Number(env['TEST_SEED'] ?? 1);
const times = (count: number) => Math.max(1, Math.trunc(Number(env['TEST_RUNS'] ?? 1) * count));
const VALID = 1_000;
/** Each fault meets each action. */
const ROUND = faultNames.length * actionTable.length;

const read = readArrival({ maxBytes: MAX_BYTES, maxDepth: 32 });

const ajv = new Ajv2020({ strictTypes: false, allowUnionTypes: true, strictNumbers: false, validateFormats: false });
const schemas = new Map<string, ValidateFunction[]>();

/** Validators of the plain form, and of the revision form where there is one. */
function schemasOf(key: string): ValidateFunction[] {
  const action = findAction(...splitKey(key));
  if (action === undefined) return [];
  const known = schemas.get(key) ?? [
    ajv.compile(notificationSchema(action)),
    ajv.compile(revisionNotificationSchema(action) ?? notificationSchema(action)),
  ];
  schemas.set(key, known);
  return known;
}

function splitKey(key: string): [interfaceName: string, action: string] {
  const dot = key.indexOf('.');
  return [key.slice(0, dot), key.slice(dot + 1)];
}

/** The results of one seed's event, and the expected ones. */
type Trial = { became: readonly string[]; expected: readonly string[] };

/** Tries one seed after the other; resolves with the first that goes wrong. */
async function findWrong(count: number, trialOf: (seed: number) => Promise<Trial>) {
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const { became, expected } = await trialOf(seed);
    if (became.join('\n') !== expected.join('\n')) return { seed, became, expected };
  }
  return undefined;
}

const asMessage = (message: Published): Message => ({
  ...message,
  queue: 'waybell.events.router',
  exchange: 'waybell.events',
  deliveryCount: 0,
  failures: 0,
});

async function route(message: Published, subscriptions: Audience['subscriptions']): Promise<string[]> {
  const arrival = read(asMessage(message));
  if ('kind' in arrival) return [`rejected ${arrival.reason} ${arrival.detail}`];
  const handle = routeEvents({
    findSubscriptions: async (events) =>
      events.map(({ action, receivers }) =>
        receivers.map((account) => subscriptions.get(audienceKey(action.interface, action.name, account)) ?? []),
      ),
    now: () => 0,
  });
  const outgoing = await causedBy(handle, arrival);
  const { action, unknownMembers } = arrival.event;
  const event = [`gate ${action.feature ?? 'none'}`, `unknown members ${unknownMembers.count}`];
  return [...event, ...outgoing.flatMap(told)].toSorted();
}

/** Returns the router's effects, in the words of `Audience.expected`. */
function told(outgoing: Outgoing): string[] {
  if (outgoing.kind === 'outcome') {
    if (outgoing.outcome.kind !== 'routed') return [outgoing.outcome.kind];
    const { suppressed } = outgoing.outcome;
    return suppressed.map(({ account, subscription = account, reason }) => `${subscription} ${reason}`);
  }
  if (outgoing.kind !== 'publish') return [outgoing.kind];
  const delivery = readDelivery({ ...asMessage({ contentType: '', ...outgoing }), ...outgoing });
  if ('kind' in delivery) return [delivery.detail];
  const { interface: interfaceName, action, subscription, guid, body } = delivery;
  const key = `${interfaceName}.${action}`;
  const keepsSchema = schemasOf(key).some((accepts) => accepts(JSON.parse(body.toString())));
  return [`${keepsSchema ? '' : 'against its schema: '}${key} ${subscription} ${guid} ${body.toString()}`];
}

async function tryValid(seed: number): Promise<Trial> {
  const dice = new Dice(seed);
  const event = anEvent(rowAt(seed), dice);
  const { subscriptions, expected } = anAudience(event, dice);
  const message = varied(messageOf(event, clothesOf(dice), dice), event, dice);
  return { became: await route(message, subscriptions), expected };
}

async function tryBroken({ message, head, tail }: Broken): Promise<Trial> {
  const became = await route(message, new Map());
  const [rejection = ''] = became;
  const isNamed = became.length === 1 && rejection.startsWith(head) && tail.test(rejection.slice(head.length));
  return { became: isNamed ? [head] : became, expected: [head] };
}

describe(`events from seed ${firstSeed}`, () => {
  test('that are valid become exactly the notifications that the specifications tell', async () => {
    expect(await findWrong(times(VALID), tryValid)).toBeUndefined();
  });

  test('that break the contract in one place are rejected, and the reason names it', async () => {
    const missing = new Set(faultNames);
    const wrong = await findWrong(times(ROUND), async (seed) => {
      const first = Math.trunc(seed / actionTable.length) % faultNames.length;
      const { name, broken } = brokenFrom(first, seed);
      missing.delete(name);
      return tryBroken(broken);
    });
    expect(wrong).toBeUndefined();
    expect(times(ROUND) < ROUND ? [] : [...missing]).toEqual([]);
  });
});
