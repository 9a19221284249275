import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page, Locator } from 'playwright-core';
import { until } from '@waybell/runtime/testing/until';
import { deadShipper, type DeadShipper } from '../testing/dead-shipper.ts';
import { aCountedCarrier, COUNTS, type Counted } from './counted.ts';
import { untilLoaded, untilReads } from './page-checks.ts';
import { button, rowOf, to } from './places.ts';
import { signedIn } from './signed-in.ts';
import { operatorsUrl, operatorToken, receiver, stack } from './stand.ts';

const { delivered, exhausted, dropped, suppressed, gone, exhaustedOfOff, waiting } = COUNTS;
const retrying = COUNTS.retried.length;
const failed = COUNTS.retried.reduce((sum, each) => sum + each, 0);
const givenUp = exhausted + gone + dropped;
const replayable = exhausted + dropped + suppressed;

export function numbers(): void {
  describe('each number stands beside its word', () => {
    let known: Counted;
    beforeAll(async () => {
      known = await aCountedCarrier();
    });

    test('on the pages of a client', async () => {
      const { carrier, failing } = known;
      const { page } = await signedIn({ token: carrier.token });
      const day = page.getByRole('region', { name: 'Last 24 hours' });
      await day.getByRole('link', { name: `${delivered} delivered` }).waitFor();
      const all = [
        `${delivered} delivered`,
        `${failed} retried`,
        `${givenUp + exhaustedOfOff} given up`,
        `${suppressed} not sent`,
      ];
      await untilReads(async () => (await day.getByRole('listitem').allInnerTexts()).map(asRead), all);
      await untilReads(() => day.getByRole('img').getAttribute('aria-label'), `The last 24 hours: ${all.join(', ')}`);
      const created = rowOf(page, 'order.created');
      await created.getByText(`${retrying} retrying`).waitFor();
      expect(await cellsOf(created)).toMatchObject({
        Status: `↻ retrying ${retrying} retrying: HTTP 503`,
        'Last 24 hours': `${delivered} delivered ${failed} retried ${givenUp} given up ${suppressed} not sent`,
      });
      const leads = async (name: RegExp) => created.getByRole('link', { name }).getAttribute('href');
      expect(await leads(/delivered$/)).toMatch(/deliveries\?status=delivered&since=.*&action=order.created$/);
      expect(await leads(/given up$/)).toMatch(/deliveries\?status=exhausted%2Cdropped&since=.*&action=order.created$/);
      expect(await leads(/not sent$/)).toMatch(/missed\?since=/);
      expect(await leads(/^\d+ retrying$/)).toMatch(`deliveries?status=retrying&subscription=${failing}`);
      await to(page, '/missed');
      const missed = (action: string) => cellsOf(page.getByRole('row').filter({ hasText: action }));
      await page.getByText(`${replayable + exhaustedOfOff} missed, 2 actions`).waitFor();
      await page.getByText(`${exhaustedOfOff} of ${replayable + exhaustedOfOff} cannot be replayed now`).waitFor();
      expect(await missed('order.created')).toEqual({
        Subscription: '✓ active',
        'Given up': `${exhausted}`,
        Dropped: `${dropped}`,
        'Not sent': `${suppressed}`,
        'No longer kept': `${gone}`,
        'To replay': `${replayable}`,
      });
      expect(await missed('order.updated')).toEqual({
        Subscription: '✕ switched off Switch on',
        'Given up': `${exhaustedOfOff}`,
        Dropped: '–',
        'Not sent': '–',
        'No longer kept': '–',
        'To replay': '0',
      });
      await button(page, 'Preview').click();
      await page.getByText(`${replayable} to replay`).waitFor();
      const reasons = await page.locator('.why').getByRole('listitem').allInnerTexts();
      expect(reasons.map(asRead).toSorted()).toEqual([
        `response_timeout ${exhausted}`,
        `subscribed_later ${suppressed}`,
        `unsubscribed ${dropped}`,
      ]);
      await page.getByRole('link', { name: `${dropped}`, exact: true }).click();
      await page.getByRole('heading', { name: 'Deliveries', exact: true }).waitFor();
      expect(await listed(page, dropped)).toEqual(
        Array.from({ length: dropped }, () => ({
          Status: '✕ dropped',
          HTTP: 'unsubscribed',
          Attempts: '1',
          Duration: '–',
        })),
      );
      await to(page, `/deliveries?status=retrying`);
      expect((await listed(page, retrying)).map(({ Attempts }) => Number(Attempts)).toSorted((a, b) => a - b)).toEqual(
        COUNTS.retried,
      );
      expect((await listed(page, retrying))[0]).toMatchObject({ Status: '↻ retrying', HTTP: '503', Duration: '12 ms' });
      await to(page, '/deliveries?status=waiting');
      await listed(page, waiting);
    });

    describe('on the pages of operators,', () => {
      const stops = () => [`subscriptions/${known.off}`, 'hosts/one.example.com', 'hosts/two.example.com'];
      let token: string;
      let dead: DeadShipper;
      beforeAll(async () => {
        token = await operatorToken();
        dead = await deadShipper({ stack, receiver, waiting: 3 });
        for (const each of stops()) await ask(token, `${each}/stop`, { reason: 'for a while' });
      });
      afterAll(async () => {
        for (const each of stops()) await ask(token, `${each}/start`, {});
        const { subscription, hung } = dead;
        await stack.postgres.query('delete from waybell.deliverer_waiting where subscription = $1', [subscription]);
        hung.answer(200);
      });

      test('in their overview', async () => {
        const { page } = await signedIn({ token, at: 'operator' });
        let seen: string[] = [];
        const look = async () => {
          await button(page, 'Refresh').click();
          await untilLoaded(page);
          const overview = await ask<Overview>(token, 'overview');
          seen = (await page.locator('.tiles').getByRole('listitem').allInnerTexts()).map(asRead);
          return tilesOf(overview).every((tile, place) => seen[place]?.startsWith(tile)) && overview;
        };
        const told = await until('the tiles tell what the API tells', look, () => seen);
        expect(told.stopped).toEqual({ subscriptions: 1, hosts: 2 });
        // They can be told from each other.
        expect(told.last_hour.attempts - told.last_hour.failed).toBeGreaterThanOrEqual(delivered);
        expect(told.switched_off.now).toBeGreaterThan(told.switched_off.lately);
        expect(told.waiting.deliveries).toBeGreaterThan(told.waiting.endpoints);
        expect(told.waiting.endpoints).toBeGreaterThan(told.waiting.shut);
        const room = page.getByRole('row').filter({ hasText: dead.hung.path });
        expect(await cellsOf(room)).toMatchObject({ Why: expect.stringMatching(/^not answering/), Deliveries: '3' });
        const services = page.getByRole('table', { name: 'Services' }).getByRole('row');
        expect(await cellsOf(services.filter({ hasText: 'event-router' }))).toMatchObject({
          State: '✓ running',
          Processes: '1',
        });
      });

      test('in tables', async () => {
        const { carrier, name } = known;
        const { page } = await signedIn({ token, at: 'operator' });
        await to(page, '/failing');
        const origin = new URL(receiver.url('/')).origin;
        const fails = page
          .getByRole('table', { name: 'Endpoints that fail' })
          .getByRole('row')
          .filter({ hasText: name });
        await fails.waitFor();
        const allFailed = failed + exhausted + gone + exhaustedOfOff;
        await untilReads(async () => asRead(await fails.getByRole('rowheader').innerText()), origin);
        expect(await cellsOf(fails)).toMatchObject({
          Account: name,
          Failed: `${allFailed}`,
          Attempts: `${allFailed + delivered}`,
          Share: `${Math.round((100 * allFailed) / (allFailed + delivered))} %`,
          'Most frequent reason': 'http_5xx',
        });
        await to(page, `/accounts/${carrier.account}`);
        const client = page.getByRole('table', { name: 'Clients' }).getByRole('row').filter({ hasText: 'default' });
        await client.waitFor();
        expect(await cellsOf(client)).toMatchObject({ Subscriptions: '3', 'Switched off': '1' });
        const rows = page.getByRole('table', { name: 'Subscriptions' }).locator('tbody tr');
        await rows.first().waitFor();
        const standing = (await Promise.all((await rows.all()).map(cellsOf))).map(({ State }) => State);
        expect(standing).toEqual([
          expect.stringMatching(/^✕ switched off ■ stopped .* for a while$/),
          expect.stringMatching(/^✓ active ‖ paused until /),
          '✓ active',
        ]);
        await to(page, '/stopped');
        const host = page.getByRole('row').filter({ hasText: 'one.example.com' });
        await host.waitFor();
        expect(await cellsOf(host)).toMatchObject({ Reason: 'for a while', Subscriptions: '0' });
      });
    });
  });
}

/** The cells of the list, once it has so many rows. */
async function listed(page: Page, count: number) {
  const rows = page.getByRole('table', { name: 'Deliveries, newest first' }).locator('tbody tr');
  await until(`there are ${count}`, async () => (await rows.count()) === count);
  const cells = await Promise.all((await rows.all()).map(cellsOf));
  return cells.map(({ Status = '', HTTP = '', Attempts = '', Duration = '' }) => ({
    Status,
    HTTP,
    Attempts,
    Duration,
  }));
}

type Overview = {
  last_hour: { failed: number; attempts: number };
  waiting: { deliveries: number; endpoints: number; shut: number };
  switched_off: { lately: number; now: number };
  stopped: { subscriptions: number; hosts: number };
  rejected: number;
};

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

/** The first words of each tile, as people read it. */
function tilesOf({ last_hour: hour, waiting: waits, switched_off: off, stopped, rejected }: Overview): string[] {
  const percent = (100 * hour.failed) / hour.attempts;
  return [
    `Failing, last hour ${percent.toFixed(percent < 10 ? 1 : 0).replace(/\.0$/, '')} % ${hour.failed} of ${counted(hour.attempts, 'attempt')}`,
    'Oldest unfinished',
    `Waiting for an endpoint ${waits.deliveries} ${counted(waits.endpoints, 'endpoint')}, ${waits.shut} taking nothing`,
    `Switched off, last 24 hours ${off.lately} ${off.now} off now`,
    `Stopped ${stopped.subscriptions + stopped.hosts} ${counted(stopped.subscriptions, 'subscription')}, ${counted(stopped.hosts, 'host')}`,
    `Rejected ${rejected}`,
  ];
}

async function ask<T>(token: string, path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${operatorsUrl()}/v1/admin/${path}`, {
    headers,
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${text}`);
  // The shape is the contract's.
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

/** As people read it: without what only breaks lines. */
const asRead = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** The needed part of a cell, where this runs in the page. */
type Cell = { dataset: { header?: string }; innerText: string };

/** The cells of a row, each beside the header of its column, but for the first, which names the row. */
async function cellsOf(row: Locator): Promise<Record<string, string>> {
  const cells = await row.locator('td').evaluateAll((all) =>
    // They are elements there.
    (all as unknown as Cell[]).map(({ dataset, innerText }) => [dataset.header ?? '', innerText] as const),
  );
  return Object.fromEntries(cells.map(([header, text]) => [header, asRead(text)]));
}
