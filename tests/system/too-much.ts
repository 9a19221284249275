import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { receiver, stack } from './stand.ts';

const HEARD = 20;
const REST_S = 5;
/** A new endpoint gets no more at once. */
const FIRST_WINDOW = 4;

/** Answers like a real receiver. */
export function tooMuch(): void {
  const inSeconds = () => String(REST_S);
  /** A whole second more, as a date has no parts of one. */
  const asDate = (now: number) => new Date(now + (REST_S + 1) * 1_000).toUTCString();

  describe.each([
    [429, 'in seconds', inSeconds],
    [503, 'as a date', asDate],
  ] as const)('a receiver that answers %i and asks for a rest, %s,', (status, _, restOf) => {
    test('gets no first attempt before that is over, its retries on time, and then all; others wait for nothing', async () => {
      const [client, other] = [await stack.client('shipper'), await stack.client('shipper')];
      const [path, elsewhere] = [`/${randomUUID()}`, `/${randomUUID()}`];
      let refusedAt: number | undefined;
      receiver.answer(path, (response, { at }) => {
        if (refusedAt !== undefined && at >= refusedAt + REST_S * 1_000) return void response.writeHead(200).end();
        refusedAt ??= at;
        response.writeHead(status, { 'retry-after': restOf(wallClockMs()) }).end();
      });
      await client.subscribe('order.paid', receiver.url(path));
      await other.subscribe('order.paid', receiver.url(elsewhere));
      for (let heard = 0; heard < HEARD; heard += 1) {
        await client.hear('order.paid');
        await other.hear('order.paid');
      }
      await receiver.untilReceived(elsewhere, HEARD);
      const first = () => receiver.at(path).filter(({ headers }) => headers['x-webhook-attempt'] === '1');
      const untouched = first().length;
      const { rows } = await stack.postgres.query<{ why: string }>(
        `select distinct why from waybell.deliverer_waiting w join waybell.subscriptions s on s.guid = w.subscription
         where s.account_guid = $1 and why <> 'open'`,
        [client.account],
      );
      expect([untouched <= FIRST_WINDOW, rows]).toEqual([true, [{ why: 'busy' }]]);
      await until('each has been attempted', () => first().length === HEARD);
      const early = first().filter(({ at }) => at < (refusedAt ?? 0) + REST_S * 1_000);
      expect(early).toHaveLength(untouched);
      // Refused deliveries have been sent again meanwhile, by their schedule.
      const again = receiver.at(path).filter(({ headers }) => headers['x-webhook-attempt'] === '2');
      expect(again.filter(({ at }) => at < (refusedAt ?? 0) + REST_S * 1_000)).toHaveLength(early.length);
    });
  });
}
