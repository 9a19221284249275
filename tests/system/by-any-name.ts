import { randomInt, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { why } from '@waybell/subscription-api/why';
import { until } from '@waybell/runtime/testing/until';
import { anEvent } from '../testing/event.ts';
import { ask, untilTold, type Timeline } from '../testing/told.ts';
import { runWaybell } from '@waybell/cli/testing/run-waybell';
import { stack } from './stand.ts';

const UNSENT = 'suppressed no_subscription';
/** Digits, and no event of another test is about it. */
const newNumber = () => randomInt(2 ** 47, 2 ** 48 - 1);
const asked = (key: string) => encodeURIComponent(key);

/** Returns an operator's answer to a search: the key that was found, and the actions of its events. */
async function toldToOperator(text: string) {
  const answer = await why(stack.postgres, { text, limit: 10 });
  if (answer.kind !== 'events' || answer.of.kind !== 'key') return [answer];
  return [{ key: answer.of.key, actions: answer.page.entries.map(({ action }) => action) }];
}

/** Resolves with the output of `./waybell why`, once that is `expected`. */
async function untilWhy(words: string[], expected: RegExp): Promise<void> {
  let output = '';
  const isTold = async () => {
    const { stdout, stderr } = await runWaybell(stack, ['why', ...words]);
    return expected.test((output = stdout + stderr));
  };
  await until('why tells it', isTold).catch(() => undefined);
  expect(output).toMatch(expected);
}

export function byAnyName(): void {
  describe('what events are about', () => {
    test.each([
      ['the id of a carrier order', 'carrier', 'order.updated', (number: number) => ({ id: number })],
      ['its number', 'carrier', 'order.updated', (number: number) => ({ id: 1, number: `${number}` })],
      ['a purchase order', 'shipper', 'order.paid', (number: number) => ({ purchase_order_number: `${number}` })],
      ['a VIN', 'shipper', 'order.paid', (number: number) => ({ vehicles: [{ vin: `${number}` }] })],
      ['an order in a damage', 'carrier', 'damage.created', (number: number) => ({ id: 1, order_id: number })],
    ] as const)('is found by %s, by its client and an operator', async (_what, interfaceName, action, payloadOf) => {
      const client = await stack.client(interfaceName);
      const number = newNumber();
      await client.hear(action, { payload: { order_guid: randomUUID(), ...payloadOf(number) } });
      await untilTold(client, `${number}`, [UNSENT]);
      expect(await toldToOperator(`${number}`)).toEqual([{ key: `${number}`, actions: [action] }]);
    });

    test('is found however a key is spelled, and by its client alone', async () => {
      const [client, other] = [await stack.client('carrier'), await stack.client('carrier')];
      const key = `Wb ${newNumber()}/ä`;
      await client.hear('order.updated', { payload: { id: 1, number: `${key} ` } });
      for (const spelled of [key, ` ${key.toUpperCase()}`, key.toLowerCase()])
        await untilTold(client, asked(spelled), [UNSENT]);
      await untilTold(other, asked(key), []);
    });

    test.each(['structured', 'binary'])('is found by the subject of a CloudEvent in %s mode', async (mode) => {
      const client = await stack.client('carrier');
      const subject = `orders/${newNumber()}`;
      const { guid, payload, parties } = anEvent({
        interface: 'carrier',
        action: 'order.created',
        parties: { carrier: client.account },
      });
      const time = '2026-11-20T09:30:00Z';
      const attributes = { specversion: '1.0', id: guid, source: '/tms', type: 'carrier.order.created', subject, time };
      const data = { parties, payload };
      const isBinary = mode === 'binary';
      const headers = Object.fromEntries(
        Object.entries(attributes).map(([name, value]) => [`cloudEvents:${name}`, value]),
      );
      const body = Buffer.from(JSON.stringify(isBinary ? data : { ...attributes, data }));
      const properties = isBinary ? { headers } : { contentType: 'application/cloudevents+json' };
      await stack.upstream.publishRaw('carrier.order.created', body, guid, properties);
      await untilTold(client, asked(subject), [UNSENT]);
      expect(await toldToOperator(subject)).toEqual([{ key: subject, actions: ['order.created'] }]);
    });

    test('is told apart by kind, where several have the same number', async () => {
      const client = await stack.client('carrier');
      const number = newNumber();
      await client.hear('order.updated', { payload: { id: number } });
      await client.hear('order.assigned', { payload: { id: 1, number: `${number}` } });
      await untilTold(client, `${number}`, [UNSENT, UNSENT]);
      const { objects } = await ask<Timeline>(client, `/v1/timeline/${number}?kind=order_id`);
      expect(objects).toMatchObject([{ action: 'order.updated' }]);

      const either = ['number', 'order_id'].map(
        (kind) => `${kind}: 1 events, .* why --subject ${number} --kind ${kind}`,
      );
      await untilWhy([`${number}`], new RegExp(either.join('\n')));
      await untilWhy([`${number}`, '--kind', 'number'], /^\S+ \S+ {2}carrier order\.assigned/);
      // Nor is either forgotten by mistake.
      const { code, stderr } = await runWaybell(stack, ['forget', `${number}`, '--yes']);
      expect([code, stderr]).toEqual([1, expect.stringContaining('nothing was deleted')]);
    });
  });
}
