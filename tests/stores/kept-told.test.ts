import { expect, test } from '@jest/globals';
import { Unroutable } from '@waybell/line/broker/publish-errors';
import { until } from '@waybell/runtime/testing/until';
import { pino } from 'pino';
import { aKeeper, aPublication, KeptStand, SomeBroker } from './kept-stand.ts';

test('what is kept and that it was sent on is told once, and what is missing with what makes it', async () => {
  await using stand = await KeptStand.start();
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const { kept, broker, clock } = aKeeper({
    store: stand.as('waybell_deliverer'),
    broker: new SomeBroker('blocked'),
    log,
  });
  for (const body of ['1', '2', '3']) await kept.keep(aPublication('a', body));
  broker.refused.set('a', new Unroutable(aPublication('a', '')));
  broker.become('writable');
  await until('it is refused', () => broker.asked.length === 3);
  await until('that is known', () => lines.length === 2);
  broker.refused.clear();
  await stand.later(60);
  await until('all is told', async () => {
    await clock.runFor(10_000);
    return lines.length === 3;
  });
  await kept[Symbol.asyncDispose]();
  expect(lines).toMatchObject([
    { msg: 'publications.kept', exchange: 'waybell.deliveries', routingKey: 'a' },
    { msg: 'publications.not-sent-on', reason: expect.stringMatching(/"a": .*waybell declare/) },
    { msg: 'publications.sent-on', sentOnTotal: 3 },
  ]);
  expect(JSON.stringify(lines)).not.toContain('body');
});
