import { expect, test } from '@jest/globals';
import type { Deactivated } from '@waybell/line/outcomes';
import { copiesOf } from './write-outcomes.ts';

const AT = Date.UTC(2026, 10, 20);
const NONE = { events: [], keys: [], attempts: [], chunks: [] };

function aDeactivation(client: string): Deactivated {
  const of = { interface: 'carrier', action: 'order.created', at: AT, rule: 'window' } as const;
  return { kind: 'deactivated', ...of, subscription: 's', generation: 1, account: 'a', client };
}

test('rows are whole, however their texts fall into pieces', () => {
  const texts = [
    'a',
    'ä'.repeat(5_000),
    '日本🚚'.repeat(10_000),
    '',
    'x'.repeat(2 ** 14 - 1),
    'x'.repeat(2 ** 14),
    'z',
  ];
  const clients = [
    ...texts,
    ...texts.toReversed(),
    ...Array.from({ length: 40 }, (_, place) => 'ä'.repeat(100 * place)),
  ];
  const [copy] = copiesOf({ ...NONE, deactivations: clients.map(aDeactivation) }, AT);
  const lines = Buffer.concat(copy?.data ?? []).toString();
  expect(lines).toBe(
    clients
      .map((client) => `2026-11-20T00:00:00.000Z\ts\t1\ta\t${client}\tcarrier\torder.created\twindow\t\\N\n`)
      .join(''),
  );
  expect(copy?.data.length).toBeGreaterThan(texts.length);
});
