import { randomBytes, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { forget } from '@waybell/delivery-log/forget';
import { messageGuid } from '@waybell/notifications/notification';
import { inTransaction } from '@waybell/runtime/postgres';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import type { Us } from '../../testing/live-stand.ts';
import { aDelivered, aDropped, aFailed, anExhausted, aRouted, DAY_MS } from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';
import { PullStand } from '../../testing/pull-stand.ts';

const stand = shared(() => PullStand.start());
let us: Us;
beforeEach(async () => {
  us = await stand.someone();
});
const ask = (query: string) => stand.api.ask('GET', `/v1/deliveries?${query}`, { token: us.token });

/** Deliveries in one commit, each delivered at its time; resolves with their guids. */
async function deliveredTogether(
  of: PullStand,
  { account, subscription }: Us,
  times: readonly number[],
): Promise<string[]> {
  const all = times.map((at) => ({ at, event: randomUUID() }));
  await of.log.write(
    all.flatMap(({ at, event }) => {
      const delivery = messageGuid(event, subscription);
      const routed = aRouted({ event, at: at - 500, receivers: [account], deliveries: [{ subscription, account }] });
      return [routed, aDelivered({ event, delivery, subscription, at, body: '{}' })];
    }),
  );
  return all.map(({ event }) => messageGuid(event, subscription));
}

/** A minute that was over when the tests began. */
const MINUTE_MS = (Math.floor(wallClockMs() / 60_000) - 2) * 60_000;
const second = (number: number): number => MINUTE_MS + number * 1_000;

describe('GET /v1/deliveries with after', () => {
  test('tells of all of a commit, and of another that is of times in between, however small its pages are', async () => {
    const times = [1, 30, 58].map(second);
    const together = await deliveredTogether(stand, us, times);
    const [between = ''] = await deliveredTogether(stand, us, [second(20)]);
    const { found } = await stand.all(us, 'oldest', '&limit=1');
    const ended = new Map(together.map((guid, place) => [guid, new Date(times[place] ?? 0).toISOString()]));
    expect(new Map(found.map(({ guid, ended_at: at }) => [guid, at]))).toEqual(
      ended.set(between, new Date(second(20)).toISOString()),
    );
    expect(found).toHaveLength(4);
    expect(found.at(-1)?.guid).toBe(between);
  });

  test('has no more on a page than it is asked for, wherever others’ ends lie between', async () => {
    const other = await stand.someone();
    const { next } = await stand.page(us, 'after=oldest');
    await stand.delivered(us, [aDelivered()]);
    for (let commits = 0; commits < 3; commits += 1) await stand.delivered(other, [aDelivered()]);
    await deliveredTogether(stand, us, [1, 2, 3].map(second));
    const { objects, more } = await stand.page(us, `after=${next}&limit=2`);
    expect([objects.length, more]).toEqual([2, true]);
  });

  test('tells how each delivery stands that ended, with what was sent', async () => {
    const delivered = await stand.delivered(us, [aDelivered({ body: '{"n":1}' })]);
    const retried = await stand.delivered(us, [aFailed({ body: '{"n":2}' }), aDelivered({ attempt: 2 })]);
    const exhausted = await stand.delivered(us, [anExhausted({ body: '{"n":3}' })]);
    const dropped = await stand.delivered(us, [aDropped({ body: '{"n":4}' })]);
    await stand.delivered(us, [aFailed({ body: '{}' })]);
    await stand.delivered(us, [aDelivered({ byHand: 'test', body: '{}' })]);
    const { found } = await stand.all(us, 'oldest', '&include=body&limit=1');
    expect(found.map(({ guid, status, body }) => [guid, status, body])).toEqual([
      [delivered, 'delivered', '{"n":1}'],
      [retried, 'delivered', '{"n":2}'],
      [exhausted, 'exhausted', '{"n":3}'],
      [dropped, 'dropped', '{"n":4}'],
    ]);
    expect(found[1]).toMatchObject({ action: 'order.created', body_state: 'kept', attempts: [{ attempt: 1 }, {}] });
    expect((await stand.all(us, 'oldest')).found[0]).not.toHaveProperty('body');
  });

  test('tells one again that ends again, as it stands then', async () => {
    const { event, delivery } = await stand.happens(us, [anExhausted()]);
    const { next } = await stand.all(us, 'oldest');
    await stand.log.write([
      aDelivered({ event, delivery, subscription: us.subscription, attempt: 2, byHand: 'resend', at: wallClockMs() }),
    ]);
    const { found } = await stand.all(us, next, '&include=body');
    expect(found).toMatchObject([{ guid: delivery, status: 'delivered', body: '{}' }]);
    expect(await stand.guids(us, 'oldest', '&status=exhausted')).toEqual([]);
  });

  test('tells of one whose event the log has not heard of', async () => {
    const { subscription } = us;
    const lone = anExhausted({ subscription, at: wallClockMs() });
    await stand.log.write([lone]);
    expect(await stand.guids(us, 'oldest')).toEqual([lone.delivery]);
  });

  test('keeps to an action, a status and a reason', async () => {
    await stand.delivered(us, [aDelivered()]);
    const exhausted = await stand.delivered(us, [anExhausted()]);
    const dropped = await stand.delivered(us, [aDropped()]);
    const subscription = await stand.log.subscribe(us.account, 'order.updated');
    const updated = await stand.delivered({ ...us, subscription }, [aDelivered()]);
    const each = ['action=order.updated', 'status=exhausted', 'status=dropped', 'reason=response_timeout'];
    const found = await Promise.all(each.map((query) => stand.guids(us, 'oldest', `&${query}`)));
    expect(found).toEqual([[updated], [exhausted], [dropped], [exhausted]]);
  });

  test('begins at a time', async () => {
    await using own = await PullStand.start();
    const ours = await own.someone();
    await own.log.partitions.ensure([wallClockMs() - DAY_MS]);
    const together = await deliveredTogether(own, ours, [second(1), second(58)]);
    expect(await own.guids(ours, new Date(second(30)).toISOString())).toContain(together[1]);
    await own.delivered(ours, [aDelivered()], 60_000);
    const late = await own.delivered(ours, [aDelivered()], 5_000);
    const before = await own.delivered(ours, [aDelivered()], 60_000);
    const at = (agoMs: number) => new Date(wallClockMs() - agoMs).toISOString();
    expect(await own.guids(ours, at(30_000))).toEqual([late, before]);
    expect(await own.guids(ours, at(-5_000))).toEqual([]);
    const { next } = await own.page(ours, `after=${at(-5_000)}`);
    const then = await own.delivered(ours, [aDelivered()]);
    expect(await own.guids(ours, next)).toEqual([then]);
    // A deliverer's clock may be ahead.
    const ahead = await own.delivered(ours, [aDelivered()], -600_000);
    expect(await own.guids(ours, at(-300_000))).toEqual([ahead]);
  });

  test("tells nothing of another client's, and goes on nevertheless", async () => {
    const token = await stand.tokenOf(us, 'another');
    await stand.delivered(us, [aDelivered()]);
    const { objects, next, more } = await stand.page({ token }, 'after=oldest');
    expect([objects, more]).toEqual([[], false]);
    await stand.delivered(us, [aDelivered()]);
    expect(await stand.guids({ token }, next)).toEqual([]);
  });

  test('bounds the bodies of a page, and lets one alone be larger', async () => {
    const large = () => randomBytes(2 ** 19).toString('hex');
    const bodies = ['{}', large(), large(), '{}', randomBytes(2 ** 20 + 1).toString('hex'), '{}'];
    for (const body of bodies) await stand.delivered(us, [aDelivered({ body })]);
    const pages: (string | null | undefined)[][] = [];
    let page = { next: 'oldest', more: true, objects: [] } as Awaited<ReturnType<typeof stand.page>>;
    while (page.more) {
      page = await stand.page(us, `after=${page.next}&include=body&limit=200`);
      pages.push(page.objects.map(({ body }) => body));
    }
    expect(pages).toEqual([bodies.slice(0, 2), bodies.slice(2, 4), [bodies[4]], [bodies[5]]]);
  });

  test('says so of a body that was forgotten', async () => {
    const { delivery, subject } = await stand.happens(us, [aFailed({ body: '{}' }), anExhausted({ attempt: 2 })]);
    const told = async () => (await stand.all(us, 'oldest', '&include=body')).found;
    expect(await told()).toMatchObject([{ body: '{}', body_state: 'kept' }]);
    await inTransaction(stand.api.store.postgres, (postgres) => forget(postgres, { key: subject }));
    expect(await told()).toMatchObject([{ guid: delivery, body: null, body_state: 'no_longer_kept' }]);
  });

  test('has a place that is no longer kept answered with 410, and from when on there is something', async () => {
    await using own = await PullStand.start();
    us = await own.someone();
    own.log.now = wallClockMs() - 9 * DAY_MS;
    await own.delivered(us, [aDelivered()], 9 * DAY_MS);
    const { next } = await own.page(us, 'after=oldest');
    own.log.now = wallClockMs();
    await own.delivered(us, [aDelivered()]);
    expect(await own.guids(us, next)).toHaveLength(1);
    await own.log.partitions.turnOver();
    const gone = await own.api.ask('GET', `/v1/deliveries?after=${next}`, { token: us.token });
    const today = new Date(own.log.now).toISOString();
    expect([gone.status, gone.body.type]).toEqual([410, 'urn:waybell:problem:no-longer-kept']);
    expect(gone.body.detail).toContain(`something from ${today} on`);
    expect(await own.guids(us, 'oldest')).toHaveLength(1);
  });

  test('knows a log that was restored from a backup by its cursors', async () => {
    await stand.delivered(us, [aDelivered()]);
    const { next } = await stand.page(us, 'after=oldest');
    const [number = '', ...rest] = next.split('.');
    for (const forged of [`${number}.0`, `${Number(number) + 9}.${rest.join('.')}`])
      expect((await ask(`after=${forged}`)).status).toBe(410);
  });

  test.each([
    ['after=tomorrow', 'after must be'],
    ['after=2026-02-30T00:00:00Z', 'after is a time that there is not'],
    ['after=2026-11-20T00:00:00+02:00', 'after must be'],
    ['after=1.2.3', 'after must be'],
    [`after=1.2.${randomUUID()}.1.1&cursor=1_${randomUUID()}`, 'cursor does not go with after'],
    [
      'after=oldest&key=4711&kind=vin&since=2026-11-20T00:00:00Z&until=2026-11-20T00:00:00Z',
      'key does not go with after',
    ],
    ['after=oldest&status=waiting', 'status must be one of: delivered, exhausted, dropped'],
    ['after=oldest&wait=21s', 'wait must be from 1s to 20s'],
    ['after=oldest&wait=0s', 'wait must be'],
    ['after=oldest&include=answers', 'include must be one of: body'],
    ['after=oldest&after=oldest', 'after is there twice'],
    ['include=body', 'include needs after'],
    ['wait=5s', 'wait needs after'],
    ['after=oldest&limit=201', 'limit must be'],
  ])('answers 422 to %s', async (query, detail) => {
    const { status, body } = await ask(query);
    expect([status, body.detail]).toEqual([422, expect.stringContaining(detail)]);
  });

  test('takes any place that can be written', async () => {
    for (const place of [`999999999999999.9999999999999999999.${randomUUID()}.999999999999999.999999999`, '0.0'])
      expect([200, 410]).toContain((await ask(`after=${place}`)).status);
    expect((await ask(`after=0.1.${randomUUID()}.999999999999999.999999999`)).status).toBe(200);
  });
});
