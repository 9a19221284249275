import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { hang } from '../testing/hang.ts';
import type { Client } from '../testing/test-stack.ts';
import { IMPATIENT, receiver, settingsOf, stack } from './stand.ts';

const HEARD = 20;

/** Two subscriptions of one client to one URL. */
type Pair = { client: Client; path: string; actions: readonly [string, string]; guids: readonly [string, string] };

const ACTIONS = { carrier: ['order.created', 'order.delivered'], shipper: ['order.paid', 'order.delivered'] } as const;

async function aPair(interfaceName: 'carrier' | 'shipper', path = `/${randomUUID()}`): Promise<Pair> {
  const client = await stack.client(interfaceName);
  const actions = ACTIONS[interfaceName];
  for (const action of actions) await client.subscribe(action, receiver.url(path));
  const { rows } = await stack.postgres.query<{ guid: string; action: string }>(
    'select guid, action from waybell.subscriptions where account_guid = $1',
    [client.account],
  );
  const guidOf = (wanted: string) => rows.find(({ action }) => action === wanted)?.guid ?? '';
  return { client, path, actions, guids: [guidOf(actions[0]), guidOf(actions[1])] };
}

/** Has the first or the second hear so many events, and resolves with the guids of its deliveries. */
async function hear({ client, actions, guids }: Pair, which: 0 | 1, count = HEARD): Promise<string[]> {
  const deliveries: string[] = [];
  for (let heard = 0; heard < count; heard += 1)
    deliveries.push(messageGuid((await client.hear(actions[which])).guid, guids[which]));
  return deliveries;
}

const change = (guid: string, what: string) =>
  stack.postgres.query(`update waybell.subscriptions set ${what} where guid = $1`, [guid]);

/** Whether all of a subscription's deliveries wait for this, so many of them. */
async function wait(guid: string, why: string, count: number): Promise<boolean> {
  const { rows } = await stack.postgres.query<{ count: number }>(
    `select count(*)::int from waybell.deliverer_waiting where subscription = $1 and why = $2 and room = $1`,
    [guid, why],
  );
  return rows[0]?.count === count;
}

const cameTo = (path: string): string[] => receiver.at(path).map(({ headers }) => String(headers['webhook-id']));

/** How its deliveries ended, and how often each. */
async function endsOf(guid: string): Promise<Record<string, number>> {
  const { rows } = await stack.postgres.query<{ how: string; count: number }>(
    `select coalesce(reason, kind) as how, count(*)::int from delivery_log.attempts where subscription = $1 group by 1`,
    [guid],
  );
  return Object.fromEntries(rows.map(({ how, count }) => [how, count]));
}

export function held(): void {
  describe('what waits for an endpoint that hangs', () => {
    settingsOf('deliverer', () => IMPATIENT);

    test('waits for its subscription while that is paused, and comes when both are over', async () => {
      const hung = hang(receiver, `/${randomUUID()}`);
      const pair = await aPair('shipper', hung.path);
      const [paused] = pair.guids;
      const deliveries = await hear(pair, 0, 2 * HEARD);
      const waits = async (condition: string) => {
        const text = `select count(*)::int from waybell.deliverer_waiting where subscription = $1 and ${condition}`;
        return (await stack.postgres.query<{ count: number }>(text, [paused])).rows[0]?.count ?? 0;
      };
      await until('some wait', async () => (await waits(`why not in ('open', 'paused')`)) > HEARD);
      await change(paused, `paused_until = now() + interval '1 hour'`);
      await until('they wait for that', async () => (await waits(`why not in ('open', 'paused')`)) === 0);
      const kept = await waits(`why = 'paused' and room = subscription and due_at > now()`);
      expect(kept).toBeGreaterThan(HEARD);
      hung.answer(200);
      await until('what was under way has come', async () => (await waits(`why = 'open'`)) === 0);
      expect(await waits(`why = 'paused'`)).toBe(kept);
      await change(paused, 'paused_until = null');
      await until('all have come', () => deliveries.every((each) => cameTo(hung.path).includes(each)));
    });
  });

  describe('a subscription that is held', () => {
    afterEach(() => stack.postgres.query('delete from waybell.stopped_hosts'));

    test('gets nothing while it is paused, and all of it when it is resumed; its neighbour at the same URL gets all at once', async () => {
      const pair = await aPair('carrier');
      const [paused, neighbour] = pair.guids;
      await change(paused, `paused_until = now() + interval '1 hour'`);
      const waiting = await hear(pair, 0);
      const others = await hear(pair, 1);
      await until('they wait', () => wait(paused, 'paused', HEARD));
      await until('those of the neighbour have come', () => others.every((each) => cameTo(pair.path).includes(each)));
      expect(cameTo(pair.path).filter((each) => waiting.includes(each))).toEqual([]);
      await change(paused, 'paused_until = null');
      await until('they have come', () => waiting.every((each) => cameTo(pair.path).includes(each)));
      await until('all are on record', async () => {
        const [one, other] = [await endsOf(paused), await endsOf(neighbour)];
        return one['delivered'] === HEARD && other['delivered'] === HEARD;
      });
      expect(cameTo(pair.path).toSorted()).toEqual([...waiting, ...others].toSorted());
      const { rows } = await stack.postgres.query('select is_active from waybell.subscriptions where guid = $1', [
        paused,
      ]);
      expect(rows).toEqual([{ is_active: true }]);
    });

    test('gets all of it when the pause is over, or its host is started again', async () => {
      const pair = await aPair('carrier');
      const [paused, other] = pair.guids;
      await stack.postgres.query(`insert into waybell.stopped_hosts (host, reason) values ('127.0.0.1', 'too much')`);
      const stopped = [...(await hear(pair, 0, 5)), ...(await hear(pair, 1, 5))];
      await until('they wait', async () => (await wait(paused, 'stopped', 5)) && wait(other, 'stopped', 5));
      await change(paused, `paused_until = now() + interval '3 seconds'`);
      await stack.postgres.query('delete from waybell.stopped_hosts');
      await until('all have come', () => stopped.every((each) => cameTo(pair.path).includes(each)));
      expect(cameTo(pair.path).toSorted()).toEqual(stopped.toSorted());
    });

    test('has what waits dropped when it is ended', async () => {
      const pair = await aPair('carrier');
      await change(pair.guids[0], `stopped_at = now(), stopped_reason = 'r'`);
      await hear(pair, 0, 5);
      await until('they wait', () => wait(pair.guids[0], 'stopped', 5));
      await pair.client.unsubscribe(pair.actions[0]);
      await until('they are dropped', async () => (await endsOf(pair.guids[0]))['unsubscribed'] === 5);
      expect(cameTo(pair.path)).toEqual([]);
    });
  });

  describe('a receiver that answers 410', () => {
    test('is one that fails as any other', async () => {
      const pair = await aPair('shipper');
      receiver.answer(pair.path, 410);
      await hear(pair, 0, 1);
      await until('it is given up', async () => (await endsOf(pair.guids[0]))['http_4xx'] === 6);
      const { rows } = await stack.postgres.query(
        'select is_active, ended_at from waybell.subscriptions where guid = $1',
        [pair.guids[0]],
      );
      expect(rows).toEqual([{ is_active: true, ended_at: null }]);
    });

    describe('where that ends a subscription', () => {
      settingsOf('deactivator', () => ({ END_ON_GONE: 'shipper' }));

      test('ends it at the first answer; what waits for another try is dropped, and says why', async () => {
        const pair = await aPair('shipper');
        receiver.answer(pair.path, 410);
        const [first] = await hear(pair, 0, 1);
        await until('it is dropped', async () => (await endsOf(pair.guids[0]))['gone'] === 1);
        const { rows } = await stack.postgres.query(
          'select guid, ended_reason from waybell.subscriptions where account_guid = $1 and ended_at is not null',
          [pair.client.account],
        );
        expect(rows).toEqual([{ guid: pair.guids[0], ended_reason: 'gone' }]);
        expect(cameTo(pair.path).every((each) => each === first)).toBe(true);
      });
    });
  });
}
